/** Addresses as operators write them for other programs too, and the faults of invalid ones. */
import assert from "node:assert/strict";
import { test } from "node:test";
import pg from "pg";
import { Problem } from "../../values/problem.ts";
import { parseDatabaseUrl } from "./database-url.ts";

// biome-ignore format: a table
const good: readonly (readonly [url: string, hosts: readonly string[]])[] = [
  ["postgres://u:p@h1/db",                                             ["h1:5432"]],
  ["postgresql://u:p@h1:5433/db",                                      ["h1:5433"]],
  ["postgres://u:p@h1:5432,h2:5433/db?target_session_attrs=read-write", ["h1:5432", "h2:5433"]],
  ["postgres://u:p@h1,h2:5433,h3/db?target_session_attrs=primary",     ["h1:5432", "h2:5433", "h3:5432"]],
  ["postgres://u:p@h1,h2/db?port=5499",                                ["h1:5499", "h2:5499"]],
  ["postgres://u:p@/db?host=h1,h2&port=5433,5434",                     ["h1:5433", "h2:5434"]],
  ["postgres://u:p@/db?host=/run/pg,::1&port=5433",                    ["/run/pg:5433", "::1:5433"]],
  ["postgres://u:p@[::1]:5433,[2001:db8::7],10.0.0.7/db",              ["::1:5433", "2001:db8::7:5432", "10.0.0.7:5432"]],
  ["postgres://u:p@%2Frun%2Fpg%20a:5433,%2Ftmp/db",                    ["/run/pg a:5433", "/tmp:5432"]],
];

test("every server of an address is reached where the address says", () => {
  for (const [url, hosts] of good) {
    const servers = parseDatabaseUrl(url);
    assert.ok(!(servers instanceof Problem), `${url}: ${JSON.stringify(servers)}`);
    const reached = servers.map((each) => {
      const { host, port, user, database, password } = new pg.Client(each.url);
      assert.deepEqual([user, password, database], ["u", "p", "db"]);
      return `${host}:${port}`;
    });
    assert.deepEqual(reached, hosts, url);
  }
});

test("user, password, name of the database and other parameters reach every server unchanged", () => {
  const servers = parseDatabaseUrl("postgres://u%40x:p%2F%3A%40%2C@h1,h2/a%20b?sslmode=disable");

  assert.ok(!(servers instanceof Problem));
  for (const { url } of servers) {
    const { user, password, database, ssl } = new pg.Client(url);
    assert.deepEqual([user, password, database, ssl], ["u@x", "p/:@,", "a b", false]);
  }
});

test("the names of servers contain no password", () => {
  const servers = parseDatabaseUrl("postgres://u:secret@h1:5432,[::1]:5433,%2Frun%2Fpg/db");

  assert.ok(!(servers instanceof Problem));
  assert.deepEqual(
    servers.map(({ name }) => name),
    ["h1:5432", "[::1]:5433", "/run/pg"],
  );
});

// biome-ignore format: a table
const bad: readonly (readonly [url: string, said: RegExp])[] = [
  ["",                                                   /not of the form/],
  ["mysql://u:secret@h1/db",                             /not of the form/],
  ["h1,h2",                                              /not of the form/],
  ["postgres://u:sec@ret@h1/db#x",                       /not of the form/],
  ["postgres://u:secret/more@h1/db",                     /percent-encoded/],
  ["postgres://u:secret?more@h1/db",                     /percent-encoded/],
  ["postgres://u:secret@h1,,h2/db",                      /host is missing/],
  ["postgres://u:secret@h1,/db",                         /host is missing/],
  ["postgres://u:secret@:5432/db",                       /host is missing/],
  ["postgres://u:secret@h1:5432:1/db",                   /port of h1:5432:1 is wrong/],
  ["postgres://u:secret@h1:http,h2/db",                  /port of h1:http is wrong/],
  ["postgres://u:secret@[::x],h2/db",                    /not an IPv6 address/],
  ["postgres://u:secret@::1/db",                         /port of ::1 is wrong/],
  ["postgres://u:secret@h 1,h2/db",                      /misspelt/],
  ["postgres://u:secret@h1,h2,h3/db?port=1,2",           /one port, or a port for each/],
  ["postgres://u:secret@h1/db?host=h2",                  /hosts twice/],
  ["postgres://u:secret@h1,h2/db?target_session_attrs=any",     /must be read-write/],
  ["postgres://u:secret@h1,h2/db?target_session_attrs=standby", /must be read-write/],
  ["postgres://u:secret@h1/db?statement_timeout=5000",   /GW_DATABASE_STATEMENT_TIMEOUT_S/],
];

test("the error for a wrong address does not contain the password", () => {
  for (const [url, said] of bad) {
    const refused = parseDatabaseUrl(url);
    assert.ok(refused instanceof Problem, url);
    assert.match(refused.sentence, said);
    assert.doesNotMatch(refused.sentence, /secret/);
  }
});
