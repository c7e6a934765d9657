/**
 * The first baseline, a process of its own: how many single-row transactions a second the same
 * driver makes at the same database server. A row has about the size of an order's.
 */
import { Client } from "pg";
import { offer } from "./part-process.ts";

export type InsertJobs = {
  readonly insert: readonly [
    { readonly databaseUrl: string; readonly connections: number; readonly seconds: number },
    { readonly rows: number; readonly perSecond: number },
  ];
};

const database = "benchmark";
const bodyBytes = 600;
const statement = "insert into written (id, name, body) values ($1, $2, $3)";
const table =
  "create table written (id bigint primary key, name text not null, body json not null)";

offer<InsertJobs>({
  async insert({ databaseUrl, connections, seconds }) {
    const url = await makeDatabase(databaseUrl);
    const clients = await Promise.all(Array.from({ length: connections }, () => open(url)));
    await clients[0]?.query(`drop table if exists written; ${table}`);
    const body = JSON.stringify({ text: "x".repeat(bodyBytes - '{"text":""}'.length) });
    // Every connection prepares the statement and warms up before the clock starts.
    let next = 0;
    const insert = async (client: Client) => {
      next += 1;
      await client.query({ name: "insert", text: statement, values: [next, `row ${next}`, body] });
    };
    for (const client of clients) await insert(client);

    const before = next;
    const startedAt = performance.now();
    const endsAt = startedAt + seconds * 1000;
    await Promise.all(
      clients.map(async (client) => {
        while (performance.now() < endsAt) await insert(client);
      }),
    );
    const tookMs = performance.now() - startedAt;
    for (const client of clients) await client.end();
    return { rows: next - before, perSecond: ((next - before) * 1000) / tookMs };
  },
});

/** A database of its own on the gateway's server, so that no table of the gateway is touched. */
async function makeDatabase(databaseUrl: string): Promise<string> {
  const client = await open(databaseUrl);
  const { rowCount } = await client.query("select 1 from pg_database where datname = $1", [
    database,
  ]);
  if (rowCount === 0) await client.query(`create database ${database}`);
  await client.end();
  return databaseUrl.replace(/\/[^/]*$/, `/${database}`);
}

async function open(url: string): Promise<Client> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client;
}
