/** Checks that a rehearsal only reaches local sandboxes; `gates.test.ts` tests its gates. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { DirectorySettings } from "../../threeds/directory-client.ts";
import { findDirectoryFault } from "./rehearsal.ts";

// biome-ignore format: a table
const servers: readonly (readonly [own: Partial<DirectorySettings>, production: RegExp | undefined, rehearsal: RegExp | undefined])[] = [
  [{ url: "https://ds.example/a" },                                              undefined,                 /^It does not lead to a sandbox/],
  [{ url: "https://127.0.0.1:8091/a", sandbox: true },                           /leads to a sandbox/, undefined],
  [{ url: "https://[::1]:8091/a", url102: "https://localhost/b", sandbox: true }, /leads to a sandbox/, undefined],
  [{ url: "https://[::1]:8091/a", url102: "https://ds.example/b", sandbox: true }, /leads to a sandbox/, /^It leads to another machine/],
];

test("production refuses a sandbox's directory server, and a rehearsal every other one", () => {
  for (const [own, ...complaints] of servers) {
    for (const [index, complaint] of complaints.entries()) {
      const mode = { environment: "production", rehearsal: index === 1 } as const;
      const told = findDirectoryFault(mode, "It", { ...bare, ...own })?.sentence;
      if (complaint === undefined) assert.equal(told, undefined);
      else assert.match(told ?? "", complaint);
    }
  }
});

const bare: DirectorySettings = {
  certificateFile: "",
  keyFile: "",
  authorityFile: "",
  referenceNumber: "",
  operatorId: "",
  requestorId: "",
  requestorName: "",
  requestorUrl: "",
};
