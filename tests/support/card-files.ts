/** Files with cards of another gateway, as that gateway encrypts them, and reports of an import. */
import assert from "node:assert/strict";
import { readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { encryptAlone, parseRecipients } from "@tollgate/gateway/archive";
import { Problem } from "@tollgate/gateway/problem";
import { endOfFile } from "./end-of-file.ts";
import { makeFolder } from "./folder.ts";
import { withCheckDigit } from "./merchant.ts";
import type { Named } from "./profiles.ts";
import { readGw, runGw } from "./programs.ts";
import type { World } from "./world.ts";

const folder = await makeFolder(endOfFile, "cards");
let count = 0;

/** Returns the path of a new file. */
export function newFile(): string {
  count += 1;
  return join(folder, `cards-${count}.csv.age`);
}

export async function recipientOf(world: World): Promise<string> {
  const { recipient } = (await readGw(world, "key", "recipient")) as { recipient: string };
  return recipient;
}

/** Encrypts a text to a world's key. Returns the file. */
export async function encryptFor(world: World, text: string): Promise<string> {
  const encrypter = parseRecipients([await recipientOf(world)]);
  assert.ok(!(encrypter instanceof Problem));
  const file = newFile();
  const plain = Readable.from([Buffer.from(text)], { objectMode: false });
  await writeFile(file, await encryptAlone(encrypter, plain));
  return file;
}

/** The columns of `line`. */
export const columns =
  "client-orderid,rp-card-type,credit-card-number,card-printed-name,expire-month,expire-year," +
  "currency,network-transaction-id";

export function numberOf(at: number): string {
  return withCheckDigit(`400000${String(at).padStart(9, "0")}`);
}

/** Returns a line of a file without any value of the customer. */
export function line(id: string, card: string, more: { type?: string; currency?: string } = {}) {
  const { type = "SRC", currency = "USD" } = more;
  return `${id},${type},${card},JANE DOE,12,2031,${currency},NTI-${id}`;
}

export function linesOf(most: number): string {
  const lines = Array.from({ length: most }, (_, at) => line(`many-${at}`, numberOf(at)));
  return [columns, ...lines, ""].join("\r\n");
}

export function importFile(world: World, file: string, ...more: readonly string[]) {
  return runGw(world, "card", "import", file, "--endpoint", plainOf(world), ...more);
}

export function plainOf({ set }: World): string {
  return set.endpoints["plain"] ?? "";
}

export async function readReport(world: World, file: string) {
  const place = `${file}.${plainOf(world)}.report.csv`;
  const text = await readFile(place, "utf8");
  assert.equal((await stat(place)).mode & 0o777, 0o600);
  const [head = "", ...rows] = text.trimEnd().split("\r\n");
  const names = head.split(",");
  const lines = rows.map((row): Named => {
    const cells = row.split(",");
    return Object.fromEntries(names.map((name, at) => [name, cells[at] ?? ""]));
  });
  return { text, lines };
}

/** Reads what is stored of a merchant's profiles, by client order id. */
export async function readProfiles({ readRows }: Pick<World, "readRows">, like: string) {
  type Row = { id: string; references: string; cards: string; facts: Facts };
  const rows = await readRows<Row>(
    `select named.client_orderid as id, (array_agg(named.facts))[1] as facts,
       count(*) as "references", count(distinct cards.id) as cards
     from card_references as named
     join card_references as other using (merchant_id, card_id)
     join cards on cards.merchant_id = named.merchant_id and cards.id = named.card_id
     where named.client_orderid like $1 group by named.client_orderid order by 1`,
    [like],
  );
  return rows.map(({ facts, ...row }) => ({ ...row, ...facts }));
}

type Facts = {
  readonly networkId?: string;
  readonly card: Named;
  readonly profile?: { readonly customer: Named };
};
