/**
 * The stored tickets and tokens of hosted fields. Each statement that uses one up decides by itself
 * which of several simultaneous requests wins, at any node.
 */
import type { HostedFieldsStore } from "../../engine/hosted-fields.ts";
import { assertHomeCell } from "../cells/cells.ts";
import type { Query } from "../server/database.ts";

const own = `merchant_id = $1 and digest = $2 and ${assertHomeCell("= $1")}`;
const fresh = (now: string) => `expires_at > to_timestamp(${now}::float8 / 1000)`;

export function makeHostedFieldsStore(query: Query): HostedFieldsStore {
  return {
    async add({ merchantId, digest }, expiresAt) {
      await query(
        `insert into hosted_fields (merchant_id, digest, expires_at)
         select $1, $2, to_timestamp($3::float8 / 1000) where ${assertHomeCell("= $1")}`,
        [merchantId, digest, expiresAt],
        "add_ticket",
      );
    },

    async has({ merchantId, digest }, now) {
      const statement = `select from hosted_fields where ${own} and ${fresh("$3")}`;
      return (await query(statement, [merchantId, digest, now], "find_ticket")).length > 0;
    },

    async exchange({ merchantId, digest }, token, expiresAt) {
      const exchanged = await query(
        `update hosted_fields set digest = $3, expires_at = to_timestamp($4::float8 / 1000)
         where ${own} returning 1 as exchanged`,
        [merchantId, digest, token, expiresAt],
        "exchange_ticket",
      );
      return exchanged.length > 0;
    },

    async remove({ merchantId, digest }) {
      const statement = `delete from hosted_fields where ${own}`;
      await query(statement, [merchantId, digest], "remove_ticket");
    },

    async take({ merchantId, digest }, request, now) {
      const taken = await query(
        `update hosted_fields set spent_by = $3, holders = holders + 1
         where ${own} and ${fresh("$4")} and (holders = 0 or spent_by = $3)
         returning 1 as taken`,
        [merchantId, digest, request, now],
        "take_token",
      );
      return taken.length > 0;
    },

    async release({ merchantId, digest }, request) {
      await query(
        `update hosted_fields set holders = holders - 1
         where ${own} and spent_by = $3 and holders > 0`,
        [merchantId, digest, request],
        "release_token",
      );
    },

    async removeExpired(now) {
      await query(`delete from hosted_fields where not ${fresh("$1")}`, [now]);
    },
  };
}
