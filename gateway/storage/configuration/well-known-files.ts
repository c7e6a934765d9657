/**
 * Files below `/.well-known/`, with which a wallet checks that a domain belongs to the
 * installation. Nodes read them at each request, because wallets seldom ask.
 */
import type { Audit } from "../people/audit.ts";
import type { Query } from "../server/database.ts";

export async function findWellKnownFile(query: Query, name: string): Promise<string | undefined> {
  const [row] = await query<{ readonly content: string }>(
    "select content from well_known_files where name = $1",
    [name],
    "find_well_known_file",
  );
  return row?.content;
}

export function listWellKnownFiles(
  query: Query,
): Promise<readonly { readonly name: string; readonly bytes: number }[]> {
  return query("select name, octet_length(content) as bytes from well_known_files order by name");
}

/** Stores a file and replaces one of the same name. */
export async function putWellKnownFile(audit: Audit, name: string, content: string): Promise<void> {
  await audit.change(async (inside, write) => {
    await inside(
      `insert into well_known_files (name, content) values ($1, $2)
       on conflict (name) do update set content = excluded.content`,
      [name, content],
    );
    const subject = `well-known file ${name}`;
    await write({ action: "wallet domain-file set", subject, after: { content } });
  });
}

/** Removes a file. Returns whether it existed. */
export async function removeWellKnownFile(audit: Audit, name: string): Promise<boolean> {
  return audit.change(async (inside, write) => {
    const removed = await inside<{ readonly content: string }>(
      "delete from well_known_files where name = $1 returning content",
      [name],
    );
    const [before] = removed;
    const subject = `well-known file ${name}`;
    if (before) await write({ action: "wallet domain-file remove", subject, before });
    return before !== undefined;
  });
}
