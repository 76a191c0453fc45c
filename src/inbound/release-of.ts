/**
 * The release of what is taken in a moment: called before it is there, it releases it as soon as it is. What cannot be taken,
 * at the end of the process, needs no release.
 */
export function releaseOf(taking: Promise<() => void>): () => void {
  return () => {
    taking.then(
      (release) => release(),
      () => undefined,
    );
  };
}
