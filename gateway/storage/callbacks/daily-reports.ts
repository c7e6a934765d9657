/** The daily reports of merchants: which are due, and how their latest attempt ended. */
import type { DailyReportStore, DueReport } from "../../callbacks/daily-reports.ts";
import type { MerchantId } from "../../values/ids.ts";
import type { Instant } from "../../values/time.ts";
import type { Query } from "../server/database.ts";
import { plainArray } from "../server/gather.ts";

const time = (parameter: string) => `to_timestamp(${parameter}::float8 / 1000)`;
const millis = (column: string) => `(extract(epoch from ${column}) * 1000)::float8`;
const shownDay = "to_char(day, 'YYYY-MM-DD') as day";

export function makeDailyReportStore(query: Query): DailyReportStore {
  return {
    async addDays(merchants, day, now) {
      await query(addStatement, [plainArray(merchants), day, now]);
    },
    async claim(merchants, now, until) {
      const values = [plainArray(merchants), now, until];
      const [row] = await query<Omit<DueReport, "leaseUntil">>(claimStatement, values);
      return row && { ...row, leaseUntil: until };
    },
    async record({ merchantId, day, leaseUntil }, { status, failure, at }, decision) {
      const [ended, dueAt, counted] =
        "ended" in decision
          ? [decision.ended, null, 1]
          : [null, decision.dueAt, +decision.isCounted];
      await query(
        `update daily_reports set ended = $4, due_at = ${time("$5")}, status = $6, failure = $7,
           tried_at = ${time("$8")}, tries = tries + $9
         where merchant_id = $1 and day = $2 and due_at = ${time("$3")}`,
        [merchantId, day, leaseUntil, ended, dueAt, status, failure, at, counted],
      );
    },
  };
}

const addStatement = `
insert into daily_reports (merchant_id, day, begun_at, due_at)
select merchant, day, ${time("$3")}, ${time("$3")}
from unnest($1::bigint[]) as merchant,
  lateral (select max(day) + 1 as next from daily_reports where merchant_id = merchant) as known,
  generate_series(greatest(coalesce(known.next, $2::date), $2::date - 13)::timestamp,
    $2::date::timestamp, '1 day') as day
on conflict do nothing`;

const claimStatement = `
update daily_reports set due_at = ${time("$3")}
where (merchant_id, day) = (
  select merchant_id, day from daily_reports
  where merchant_id = any($1::bigint[]) and due_at <= ${time("$2")}
  order by day, merchant_id limit 1 for update skip locked)
returning merchant_id as "merchantId", ${shownDay}, tries, ${millis("begun_at")} as "begunAt"`;

/** Returns the latest daily reports of a merchant, the latest first. */
export function findDailyReports(query: Query, merchant: MerchantId) {
  return query<Readonly<Record<"day" | "state" | "failure", string>> & { at: Instant | null }>(
    `select ${shownDay}, tries, coalesce(status::text, '') as status, ${millis("tried_at")} as at,
       coalesce(failure, '') as failure,
       coalesce(ended, case when tries > 0 then 'failing' else 'due' end) as state
     from daily_reports where merchant_id = $1 order by daily_reports.day desc limit 31`,
    [merchant],
  );
}
