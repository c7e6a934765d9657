/** `gw directory`: the directory servers of 3-D Secure, and their card ranges. */

import { loadDirectories, makeDirectoryAdministration } from "../storage/directories.ts";
import { findFileFaults } from "../threeds/directory-client.ts";
import { Problem } from "../values/problem.ts";
import { type DirectoryOptions, readDirectory } from "./directory-settings.ts";
import { complain, type Installation, withInstallation } from "./installation.ts";
import { print } from "./print.ts";

type Output = { readonly json?: boolean };

/** It becomes a part of an address. */
const nameForm = /^[A-Za-z0-9._-]{1,40}$/;

export function listDirectories({ json = false }: Output): Promise<void> {
  return withInstallation(async ({ database }) => {
    const ranges = await makeDirectoryAdministration(database.query).countRanges();
    const known = await loadDirectories(database.query);
    const faults = await findFileFaults(known);
    const servers = known.map(({ name, networks, settings }) => ({
      name,
      networks: networks.join(",") || "all",
      url: settings.url ?? "none",
      url102: settings.url102 ?? "none",
      ranges: ranges.get(name)?.count ?? 0,
      "ranges due": ranges.get(name)?.dueAt ?? "",
      files: faults.get(name) ?? "good",
    }));
    print(servers, json);
  });
}

export function showDirectory(name: string, { json = false }: Output): Promise<void> {
  return withInstallation(async (installation) => {
    const server = await find(installation, name);
    if (server === undefined) return complainOfUnknown(name);
    const { networks, settings } = server;
    print({ name, networks: networks.join(",") || "all", ...settings }, json);
  });
}

/** Makes one, or changes what is given of one that is known. */
export function putDirectory(
  name: string,
  { json = false, ...options }: DirectoryOptions & Output,
): Promise<void> {
  return withInstallation(async (installation) => {
    if (!nameForm.test(name)) {
      return complain(
        new Problem("A name is 1 to 40 letters, digits, dots, dashes or underscores."),
      );
    }
    const read = readDirectory(options, await find(installation, name));
    if (read instanceof Problem) return complain(read);
    await makeDirectoryAdministration(installation.database.query).put({ name, ...read });
    const { networks, settings } = read;
    print({ name, networks: networks.join(",") || "all", ...settings }, json);
  });
}

export function refreshDirectory(name: string): Promise<void> {
  return withInstallation(async ({ database }) => {
    const known = await makeDirectoryAdministration(database.query).refresh(name);
    if (!known) return complainOfUnknown(name);
    print({ refreshed: name, note: "a running node asks for its card ranges now" });
  });
}

export function removeDirectory(name: string): Promise<void> {
  return withInstallation(async ({ database }) => {
    const known = await makeDirectoryAdministration(database.query).remove(name);
    if (!known) return complainOfUnknown(name);
    print({ removed: name });
  });
}

async function find({ database }: Installation, name: string) {
  return (await loadDirectories(database.query)).find((server) => server.name === name);
}

function complainOfUnknown(name: string): void {
  complain(new Problem(`There is no directory server ${name}: see \`gw directory list\`.`));
}
