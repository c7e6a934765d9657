/** `gw cell`: adds, lists and checks the cells that merchants' orders are in; moves merchants. */
import { readFile } from "node:fs/promises";
import { type Command, Option } from "commander";
import {
  addCell,
  countMerchants,
  describePlace,
  examineCell,
} from "../storage/cell-administration.ts";
import { parseDatabaseUrl } from "../storage/database-url.ts";
import { abortMove, listMoves, moveMerchant } from "../storage/move-merchant.ts";
import { takeRotationLock } from "../storage/vault-keys.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { Secret } from "../values/secret.ts";
import { addCommands, type Output, type Session } from "./command.ts";
import { openVault, readConfiguration } from "./installation.ts";
import { findMerchant } from "./merchant-set.ts";

/** Of a schema: `cell_` and the name. */
const nameForm = /^[a-z][a-z0-9_]{0,30}$/;

export function addCellCommands(cell: Command): void {
  const url = new Option(
    "--url-file <file>",
    "the address of its database, in a file because it has a password; else the main database",
  );
  const citus = new Option(
    "--citus",
    "its database is a Citus coordinator, which chooses a worker",
  );
  const abort = new Option("--abort", "before the switch: the merchant goes on in its old cell");
  // biome-ignore format: a table
  addCommands(cell, [
    ["add <name>", "make the tables of a new cell; merchants are created in it with --cell", add, [url, citus]],
    ["move-merchant <login> [cell]", "move a merchant while payments go on; again goes on with a move that was cut short", move, [abort]],
    ["list",       "list the cells with the number of their merchants",                       list],
    ["check",      "connect to every cell, and say how it is",                                check],
  ]);
}

async function add(
  session: Session,
  name: string,
  { urlFile, citus: onCitus = false }: { readonly urlFile?: string; readonly citus?: boolean },
): Promise<Output> {
  const { audit, database, cells } = session;
  if (!nameForm.test(name)) {
    return new Problem("A cell's name is a small letter, then up to 30 letters, digits or _.");
  }
  if (cells.names().includes(name)) return new Problem(`There is a cell ${name} already.`);
  const url = urlFile === undefined ? undefined : await readUrl(urlFile);
  if (url instanceof Problem) return url;
  const lock = await takeRotationLock(database);
  if (lock === undefined) return new Problem("A key rotation is under way: add the cell after it.");
  try {
    const { sealSecret } = await openVault(session);
    const place = { name, url, onCitus };
    const where = await addCell({ audit, database, cells, sealSecret }, place, report);
    return { cell: name, database: where };
  } catch (error) {
    return new Problem(`The cell ${name} could not be made: ${messageOf(error)}.`);
  } finally {
    await lock.release();
  }
}

async function readUrl(file: string): Promise<Secret<string> | Problem> {
  try {
    const text = (await readFile(file, "utf8")).trim();
    const servers = parseDatabaseUrl(text);
    return servers instanceof Problem ? servers : new Secret(text);
  } catch (error) {
    return new Problem(`The file ${file} cannot be read: ${messageOf(error)}.`);
  }
}

/** With the lock of key rotations: no key is destroyed while cards are between two cells. */
async function move(
  session: Session,
  login: string,
  to: string | undefined,
  { abort = false }: { readonly abort?: boolean },
): Promise<Output> {
  const { database, cells } = session;
  const merchant = findMerchant(await readConfiguration(session), login);
  if (merchant instanceof Problem) return merchant;
  if ((to === undefined) !== abort) return new Problem("Give either a cell or --abort.");
  if (to !== undefined && !cells.names().includes(to))
    return new Problem(`There is no cell ${to}.`);
  const lock = await takeRotationLock(database);
  if (lock === undefined) return new Problem("A key rotation or another move is under way.");
  const places = { main: database, cells };
  try {
    if (to === undefined) return describeAbort(login, await abortMove(places, merchant.id, report));
    const moved = await moveMerchant(places, merchant.id, to, report);
    if ("begun" in moved) {
      return new Problem(`A move to ${moved.begun} was begun: go on with it, or --abort it first.`);
    }
    const { rows, stoppedMs } = moved;
    return { merchant: login, cell: to, "rows copied": rows, "stopped for ms": stoppedMs };
  } catch (error) {
    return new Problem(`The move has not ended: ${messageOf(error)}. Run the command again.`);
  } finally {
    await lock.release();
  }
}

function describeAbort(login: string, ended: Awaited<ReturnType<typeof abortMove>>): Output {
  if (ended === "none") return new Problem(`No move of ${login} was begun.`);
  if (ended === "aborted") return `${login} stays in its cell.`;
  return new Problem(`${login} lives in its new cell already: run the command with that cell.`);
}

async function list({ database, cells }: Session): Promise<Output> {
  const places = new Map(cells.places().map((place) => [place.name, place]));
  const moves = await listMoves({ main: database, cells });
  const counts = await countMerchants(database.query);
  return Promise.all(
    counts.map(async ({ name, merchants }) => ({
      ...{ cell: name, merchants },
      database: await describePlace(cells.databasesOf(name).node, places.get(name) ?? { name }),
      "unfinished moves": moves
        .filter(({ from }) => from === name)
        .map(({ login, to, state }) => `${login} to ${to} (${state})`)
        .join(", "),
    })),
  );
}

/** A cell that is away makes the exit code 1; the others are told of all the same. */
async function check({ cells }: Session): Promise<Output> {
  return Promise.all(
    cells.places().map(async (place) => {
      const { node } = cells.databasesOf(place.name);
      const database = await describePlace(node, place);
      try {
        const { version, orders, size } = await examineCell(node, place);
        return { cell: place.name, state: "good", postgres: version, orders, size, database };
      } catch (error) {
        process.exitCode = 1;
        const state = messageOf(error);
        return { cell: place.name, state, postgres: "", orders: "", size: "", database };
      }
    }),
  );
}

function report(progress: string): void {
  process.stderr.write(`${progress}\n`);
}
