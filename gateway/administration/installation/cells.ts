/** Cells, which store merchants' orders: add, list and check them, and move merchants. */

import { takeRotationLock } from "../../storage/cards/vault-keys.ts";
import {
  addCell,
  countMerchants,
  describePlace,
  examineCell,
} from "../../storage/cells/cell-administration.ts";
import { abortMove, listMoves, moveMerchant } from "../../storage/cells/move-merchant.ts";
import { parseDatabaseUrl } from "../../storage/server/database-url.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import { Secret } from "../../values/secret.ts";
import { type Action, action } from "../action.ts";
import { type Content, flag, lastWord, option, word } from "../field.ts";
import { findMerchant } from "../find.ts";
import { type Output, openVault, readConfiguration, readContent } from "../session.ts";

/** A cell's schema is called `cell_` followed by this name. */
const nameForm = /^[a-z][a-z0-9_]{0,30}$/;
const commandLineOnly = "it needs logins of databases";

export const cellActions: readonly Action[] = [
  action("change", "operate", {
    name: "cell add",
    does: ["make the tables of a new cell; merchants are created in it with --cell"],
    commandLineOnly,
    fields: {
      name: word("text", "name", ["the name of the cell"]),
      urlFile: option("file", "file", [
        "the address of its database, in a file because it has a password; " +
          "else the main database",
      ]),
      citus: flag(["its database is a Citus coordinator, which chooses a worker"]),
    },
    async perform(session, { name, urlFile, citus: onCitus = false }) {
      const { audit, database, cells, report } = session;
      if (!nameForm.test(name)) {
        return new Problem("A cell's name is a small letter, then up to 30 letters, digits or _.");
      }
      if (cells.names().includes(name)) return new Problem(`There is a cell ${name} already.`);
      const url = urlFile === undefined ? undefined : await readUrl(urlFile);
      if (url instanceof Problem) return url;
      const lock = await takeRotationLock(database);
      if (lock === undefined)
        return new Problem("A key rotation is under way: add the cell after it.");
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
    },
  }),
  action("record", "operate", {
    name: "cell move-merchant",
    does: ["move a merchant while payments go on; repeat it to continue an interrupted move"],
    commandLineOnly: "it moves orders for hours, and must go on when a node stops",
    fields: {
      login: word("merchant", "login", ["the merchant's login"]),
      cell: lastWord("text", "cell", ["where the merchant goes"]),
      abort: flag(["take the move back before the switch: the merchant stays in its old cell"]),
    },
    // During the move, no key rotation may run: it could destroy the key of a copied card.
    async perform(session, { login, cell: to, abort = false }) {
      const { database, cells, report } = session;
      const merchant = findMerchant(await readConfiguration(session), login);
      if (merchant instanceof Problem) return merchant;
      if ((to === undefined) !== abort) return new Problem("Give either a cell or abort.");
      if (to !== undefined && !cells.names().includes(to)) {
        return new Problem(`There is no cell ${to}.`);
      }
      const lock = await takeRotationLock(database);
      if (lock === undefined) return new Problem("A key rotation or another move is under way.");
      const places = { main: database, cells };
      try {
        if (to === undefined)
          return describeAbort(login, await abortMove(places, merchant.id, report));
        const moved = await moveMerchant(places, merchant.id, to, report);
        if ("begun" in moved) {
          return new Problem(
            `A move to ${moved.begun} was begun: go on with it, or abort it first.`,
          );
        }
        const { rows, stoppedMs } = moved;
        return { merchant: login, cell: to, "rows copied": rows, "stopped for ms": stoppedMs };
      } catch (error) {
        return new Problem(`The move has not ended: ${messageOf(error)}. Run the command again.`);
      } finally {
        await lock.release();
      }
    },
  }),
  action("look", "see_configuration", {
    name: "cell list",
    does: ["list the cells with the number of their merchants"],
    commandLineOnly,
    async perform({ database, cells }) {
      const places = new Map(cells.places().map((place) => [place.name, place]));
      const moves = await listMoves({ main: database, cells });
      const counts = await countMerchants(database.query);
      return Promise.all(
        counts.map(async ({ name, merchants }) => ({
          cell: name,
          merchants,
          database: await describePlace(cells.databasesOf(name).node, places.get(name) ?? { name }),
          "unfinished moves": moves
            .filter(({ from }) => from === name)
            .map(({ login, to, state }) => `${login} to ${to} (${state})`)
            .join(", "),
        })),
      );
    },
  }),
  action("keys", "operate", {
    name: "cell check",
    does: ["connect to every cell and show its state"],
    commandLineOnly,
    // If a cell is unreachable, the output says so, and the other cells are still listed.
    async perform({ cells, findings }) {
      return Promise.all(
        cells.places().map(async (place) => {
          const { node } = cells.databasesOf(place.name);
          const database = await describePlace(node, place);
          try {
            const { version, orders, size } = await examineCell(node, place);
            return { cell: place.name, state: "good", postgres: version, orders, size, database };
          } catch (error) {
            findings.note();
            const state = messageOf(error);
            return { cell: place.name, state, postgres: "", orders: "", size: "", database };
          }
        }),
      );
    },
  }),
];

async function readUrl(file: Content): Promise<Secret<string> | Problem> {
  try {
    const text = (await readContent(file)).trim();
    const servers = parseDatabaseUrl(text);
    return servers instanceof Problem ? servers : new Secret(text);
  } catch (error) {
    return new Problem(`The file ${file.name} cannot be read: ${messageOf(error)}.`);
  }
}

function describeAbort(login: string, ended: Awaited<ReturnType<typeof abortMove>>): Output {
  if (ended === "none") return new Problem(`No move of ${login} was begun.`);
  if (ended === "aborted") return `${login} stays in its cell.`;
  return new Problem(`${login} lives in its new cell already: run the command with that cell.`);
}
