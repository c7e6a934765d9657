/** First contact with the server: is it up, is the password right, is our database there. */
import { Client, DatabaseError } from "pg";
import type { Cluster } from "./cluster.ts";
import { passwordFileOf, superuser } from "./cluster.ts";
import type { Postmaster } from "./postmaster.ts";
import { StartProblem } from "./start-problem.ts";

const database = "tollgate";
const connectTimeoutMs = 5_000;

/** The host is the folder of the socket, percent-encoded: read so by `pg` and by `psql` alike. */
export function urlOf(postmaster: Postmaster, password: string): string {
  const host = encodeURIComponent(postmaster.socketFolder);
  return `postgres://${superuser}:${encodeURIComponent(password)}@${host}:5432/${database}`;
}

/** Makes the database when it is missing. "not yet" while the server starts, recovers or ends. */
export async function greet(
  cluster: Cluster,
  postmaster: Postmaster,
): Promise<"ready" | "not yet" | StartProblem> {
  const answer = await connectTo(database, cluster, postmaster);
  if (answer !== codes.noSuchDatabase) return judge(answer, cluster);
  const made = await connectTo("postgres", cluster, postmaster, `create database ${database}`);
  return judge(made, cluster);
}

// biome-ignore format: a table
const codes = {
  wrongPassword:  "28P01",
  noSuchDatabase: "3D000",
};

function judge(answer: string, { folder }: Cluster): "ready" | "not yet" | StartProblem {
  if (answer === "") return "ready";
  if (answer !== codes.wrongPassword) return "not yet";
  return new StartProblem(
    `The password in ${passwordFileOf(folder)} is not the one of the database in ${folder}: put ` +
      "the right one back, or move that folder away to start with an empty database.",
  );
}

/** The code of the refusal; empty when all went well. */
async function connectTo(
  name: string,
  { password }: Cluster,
  { socketFolder }: Postmaster,
  statement = "select 1",
): Promise<string> {
  const client = new Client({
    host: socketFolder,
    port: 5432,
    user: superuser,
    password,
    database: name,
    connectionTimeoutMillis: connectTimeoutMs,
  });
  // A server that ends just now is met again on the next attempt.
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query(statement);
    return "";
  } catch (error) {
    return error instanceof DatabaseError ? (error.code ?? "unknown") : "no answer";
  } finally {
    await client.end().catch(() => {});
  }
}
