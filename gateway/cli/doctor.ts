/**
 * `gw doctor` runs the checks in `checks/` and says what to do about each trouble, and `gw config`
 * prints the settings. `gw doctor` exits with code 1 if there is any trouble, and with 2 if the
 * installation could not be examined. `docs/monitoring.md` lists the checks.
 */
import { flag } from "../administration/field.ts";
import { Report } from "../administration/session.ts";
import { describeConfig, readConfig } from "../config/config.ts";
import { messageOf, Problem } from "../values/problem.ts";
import { certificateChecks } from "./checks/certificates.ts";
import type { Check, CheckResult } from "./checks/check.ts";
import { databaseChecks } from "./checks/database.ts";
import { machineChecks } from "./checks/machine.ts";
import { operationChecks } from "./checks/operation.ts";
import { print } from "./command.ts";
import { filesCheck } from "./files.ts";
import { installed, type MachineSession, ownCommand } from "./machine-command.ts";

export const checks: readonly Check[] = [
  ...operationChecks,
  ...databaseChecks,
  ...machineChecks,
  ...certificateChecks,
];

export const doctorCommands = [
  installed("keys", "run", {
    name: "doctor",
    fields: {
      files: flag(["also compare the installed files with their manifest"]),
    },
    async perform(session, { files }) {
      const findings: Found[] = [];
      for (const check of files ? [...checks, filesCheck] : checks)
        findings.push(await lookAt(check, session));
      if (findings.some(({ troubles }) => troubles.length > 0)) session.findings.note();
      return new Report(findings, findings.map(printFinding).join("\n"));
    },
  }),
];

export const configCommands = [
  ownCommand({
    name: "config",
    fields: {
      changed: flag(["print only the settings that the environment has"]),
    },
    run({ changed }, { json }) {
      const all = describeConfig(process.env);
      const rows = changed ? all.filter(({ origin }) => origin !== "default") : all;
      print(json ? rows : rows.map(describeSetting).join("\n"), json);
      const read = readConfig(process.env);
      return read instanceof Problem ? read : undefined;
    },
  }),
];

/** An error of the check itself becomes a warning, and the other checks still run. */
export async function lookAt([check, , look]: Check, session: MachineSession): Promise<Found> {
  const found = await look(session).catch((error): CheckResult => {
    return { what: check, warnings: [`It could not be checked: ${messageOf(error)}.`] };
  });
  return { check, troubles: [], warnings: [], ...found };
}

type Found = Required<CheckResult> & { readonly check: string };

function printFinding({ what, troubles, warnings }: Found): string {
  const word = troubles.length > 0 ? "trouble" : warnings.length > 0 ? "warning" : "good   ";
  return [`${word} ${what}`, ...troubles, ...warnings].join(`\n${" ".repeat(8)}`);
}

type DescribedSetting = ReturnType<typeof describeConfig>[number];

function describeSetting({ name, value, origin, meaning }: DescribedSetting): string {
  return `${name}=${printValue(name, value)} (${origin})\n    ${meaning}`;
}

/**
 * Settings of time are stored in milliseconds and printed in seconds, as users write them. A
 * setting whose name ends in `_PER_S` is a rate and is not converted.
 */
export function printValue(name: string, value: DescribedSetting["value"]): string {
  const values = Array.isArray(value) ? value : [value ?? ""];
  const isTime = /(?<!_PER)_S$/.test(name);
  return values.map((each) => String(isTime ? Number(each) / 1000 : each)).join(",");
}
