/** Who tokens are made for when nobody is named: the last of each wallet, kept in a file. */
import { readFile } from "node:fs/promises";
import { writeKept } from "../certificates/open-family.ts";
import { parseJson } from "../http-exchange.ts";
import { MintFault } from "./members.ts";
import { readWalletARecipient, type WalletARecipient } from "./walleta-options.ts";
import { readWalletBRecipient, type WalletBRecipient } from "./walletb-options.ts";

export type Remembered = {
  readonly walleta?: WalletARecipient;
  readonly walletb?: WalletBRecipient;
};

export class Recipients {
  readonly #path: string;
  #current: Remembered;
  #written: Promise<void> = Promise.resolve();

  private constructor(path: string, current: Remembered) {
    this.#path = path;
    this.#current = current;
  }

  static async open(path: string): Promise<Recipients> {
    const written = await readFile(path, "utf8").catch(() => "");
    return new Recipients(path, readRemembered(parseJson(written)));
  }

  get current(): Remembered {
    return this.#current;
  }

  /** On disk when this is done; one after the other, so that the last one stays. */
  async remember(recipient: Remembered): Promise<void> {
    this.#current = { ...this.#current, ...recipient };
    const write = () =>
      writeKept(this.#path, `${JSON.stringify(this.#current, null, 2)}\n`, "owner");
    this.#written = this.#written.then(write, write);
    await this.#written;
  }
}

/** What cannot be read is forgotten: whoever it was names himself again. */
function readRemembered(kept: unknown): Remembered {
  const fields = new Map(Object.entries(kept ?? {}));
  const walleta = readWalletARecipient(fields.get("walleta"));
  const walletb = readWalletBRecipient(fields.get("walletb"));
  return {
    ...(walleta instanceof MintFault ? {} : { walleta }),
    ...(walletb instanceof MintFault ? {} : { walletb }),
  };
}
