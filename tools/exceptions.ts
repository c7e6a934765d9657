/**
 * Files and names that still break a rule about the layout. The lists only shrink: an addition
 * needs a reason beside it, and `tidy.test.ts` names the entries that are no longer needed.
 */

/** A circle of imports is tolerated when all of its files are in one of these folders. */
export const foldersWithCircles: readonly string[] = [];

/** Names of types and classes that more than one file of the gateway exports. */
export const namesOfSeveral: readonly string[] = [
  // A field belongs to the merchant in `merchant-api` and to the operator in `administration`.
  ...["Field", "Fields", "Values", "Texts", "Subject", "Block"],
];

/** Files of less than 40 lines, by folder. */
const shortOnes: Readonly<Record<string, string>> = {
  // This is the only import of `gateway/staging`.
  "gateway/administration/installation": "staging",
  "gateway/cli": "gw",
  "gateway/values": "email html secret",
  // The sign-in uses it and loads nothing else of the account.
  "portal/account": "passkey-prompt",
  // It is a list of style sheets.
  "portal/design": "styles",
  "tools": "exceptions load-files warm",
};

export const shortFiles: ReadonlySet<string> = new Set(
  Object.entries(shortOnes).flatMap(([folder, names]) =>
    names.split(" ").map((name) => `${folder}/${name}.ts`),
  ),
);
