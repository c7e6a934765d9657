/** Everything that `gw` can do has a place in the portal, or a reason to be on the machine only. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { offers } from "../gateway/cli/desk-offers.ts";
import { commandRights } from "../gateway/cli/rights.ts";
import type { Api } from "../gateway/portal-api/api.ts";
import { root } from "./repository.ts";

/** What a screen does by a route of its own. */
// biome-ignore format: a table
const byRoute: Readonly<Record<string, keyof Api>> = {
  "audit list":         "GET /audit",
  "audit verify":       "POST /audit/verify",
  "approval list":      "GET /approvals",
  "approval give":      "POST /approvals/give/:approval",
  "user list":          "GET /users",
  "user add":           "POST /users/add",
  "user role":          "POST /users/role/:login",
  "user password":      "POST /users/password/:login",
  "user reset-factors": "POST /users/reset-factors/:login",
  "user disable":       "POST /users/enable/:login",
  "user enable":        "POST /users/enable/:login",
  "merchant list":      "GET /merchants",
  "merchant key list":  "GET /merchants/:login",
  "endpoint list":      "GET /merchants/:login",
  "group list":         "GET /merchants/:login",
  "gate list":          "GET /gates",
  "gate show":          "GET /gates/:gate",
  "filter list":        "GET /rules",
  "link list":          "GET /links",
  "link show":          "GET /links/:link",
  "order list":         "GET /orders",
  "order export":       "GET /exports/orders",
  "order show":         "GET /orders/:order",
  "tail":               "GET /orders",
  "doubt list":         "GET /orders",
  "doubt ask":          "POST /orders/ask/:order",
  "doubt settle":       "POST /orders/settle/:order",
  "callback list":      "GET /callbacks",
  "callback show":      "GET /callbacks/:order/:sequence",
  "callback resend":    "POST /callbacks/resend",
  "pay":                "POST /sandbox/pay",
};

/** What is left to the command line, and why. */
// biome-ignore format: a table
const onMachine: Readonly<Record<string, string>> = {
  "start":              "begins the process that serves the portal",
  "serve":              "begins the process that serves the portal",
  "migrate":            "changes the schema under the process that serves the portal",
  "doctor":             "looks at the machine, also when nothing else works",
  "files sign":         "reads the program's files on the machine",
  "backup":             "writes gigabytes to the machine, or to a pipe",
  "restore hold":       "is for an installation that must not send anything",
  "restore status":     "is for an installation that must not send anything",
  "restore verify":     "reads gigabytes from the machine",
  "restore release":    "is for an installation that must not send anything",
  "apply":              "is for a file under version control, applied by a pipeline",
  "export":             "is for a file under version control",
  "generate orders":    "fills a staging installation, for hours",
  "callback listen":    "receives callbacks on a developer's machine",
  "card show":          "answers a question of support about one card reference, which an order shows too",
  "card remove":        "erases what no one can bring back",
  "privacy erase":      "erases what no one can bring back",
  "bin count":          "is about files of many megabytes, which a pipeline loads",
  "bin find":           "is about files of many megabytes, which a pipeline loads",
  "bin load":           "is about files of many megabytes, which a pipeline loads",
  "cell list":          "needs logins of databases",
  "cell check":         "needs logins of databases",
  "cell add":           "needs logins of databases",
  "cell move-merchant": "moves a merchant's orders for hours, and must go on when a node stops",
  "gate test":          "tries the way from this machine to the host, also before a node runs",
  "access-review":      "is printed, and signed by the person who has reviewed it",
  "user remove":        "removes what the portal disables, and what no one can bring back",
  "key rewrap":         "needs the next key-encryption key, which no browser may have",
};

const screens = globSync("portal/**/*.{ts,tsx}", { cwd: root })
  .filter((path) => !/node_modules|\.test\.|\.generated\./.test(path))
  .map((path) => readFileSync(join(root, path), "utf8"))
  .join("\n");
const isIn = (text: string) => screens.includes(`"${text}"`) || screens.includes(`\`${text} `);

test("every command is in the portal, or has a reason to be on the machine only", () => {
  const places = [...Object.keys(offers), ...Object.keys(byRoute), ...Object.keys(onMachine)];
  const known = Object.keys(commandRights).filter((path) => !path.includes(" --"));

  assert.deepEqual(places.toSorted(), known.toSorted());
});

test("a screen of the portal gives every command that is offered, and uses every route", () => {
  const names = [...Object.keys(offers), ...Object.values(byRoute)];

  assert.deepEqual(
    names.filter((name) => !isIn(name)),
    [],
  );
});
