import { denied, type ExchangeAttributes, type WriteHandle } from "../exchange-session.ts";

export const claimedText = "This file is being uploaded by another connection or handle; close that first";

/** An upload as others see it while it lasts. */
export interface CurrentUpload extends Pick<WriteHandle, "change"> {
  /** Whether the client is gone or has closed it, so that another upload of the name needs only to wait. */
  readonly isEnding: boolean;
  currentAttributes(): ExchangeAttributes;
}

/** The right of one upload to an unfinished file; nobody else opens, renames or removes it meanwhile. */
interface Claim {
  upload: CurrentUpload | undefined;
  readonly isReleased: Promise<void>;
}

export interface UploadClaim {
  attach(upload: CurrentUpload): void;
  release(): void;
}

/** Which unfinished files are being written. Keys are `<folder path>/<name>` of the unfinished file. */
export class UploadClaims {
  readonly #claims = new Map<string, Claim>();

  /** The upload that is open under the key. */
  uploadOf(key: string): CurrentUpload | undefined {
    return this.#claims.get(key)?.upload;
  }

  isClaimed(key: string): boolean {
    return this.#claims.has(key);
  }

  /** Names in a folder that are being written. */
  namesIn(folder: string): string[] {
    const front = `${folder}/`;
    return [...this.#claims.keys()]
      .filter((key) => key.startsWith(front))
      .map((key) => key.slice(front.length));
  }

  /**
   * Claims the key. An upload that has ended and still writes its last bytes is waited for; one that is open refuses the
   * second with `permissionDenied`.
   */
  async claim(key: string): Promise<UploadClaim> {
    for (let other = this.#claims.get(key); other !== undefined; other = this.#claims.get(key)) {
      if (other.upload?.isEnding !== true) throw denied(claimedText);
      await other.isReleased;
    }
    return this.#taken(key);
  }

  /** The same without waiting: undefined when somebody has it. */
  tryClaim(key: string): UploadClaim | undefined {
    return this.#claims.has(key) ? undefined : this.#taken(key);
  }

  #taken(key: string): UploadClaim {
    const { promise: isReleased, resolve } = Promise.withResolvers<void>();
    const claim: Claim = { upload: undefined, isReleased };
    this.#claims.set(key, claim);
    return {
      attach: (upload) => {
        claim.upload = upload;
      },
      release: () => {
        if (this.#claims.get(key) === claim) this.#claims.delete(key);
        resolve();
      },
    };
  }
}
