export default function setup(): void {
  // Nothing is set up yet.
}
