/** `gw config`: every setting with its value, where it comes from, and what it means. */
import { describeConfig, readConfig } from "../config/config.ts";
import { Problem } from "../values/problem.ts";
import { complain } from "./installation.ts";

export function printConfig({ json = false }: { readonly json?: boolean }): void {
  const rows = describeConfig(process.env).map((row) => ({
    ...row,
    value: hide(row.name, row.value),
  }));
  if (json) process.stdout.write(`${JSON.stringify(rows, undefined, 2)}\n`);
  else for (const row of rows) process.stdout.write(line(row));

  const read = readConfig(process.env);
  if (read instanceof Problem) complain(read);
}

type Row = Omit<ReturnType<typeof describeConfig>[number], "value"> & { readonly value: unknown };

function line({ name, value, origin, meaning }: Row): string {
  const shown = value === "" || value === undefined ? "-" : String(value);
  const unit = name.endsWith("_S") && typeof value === "number" ? `${value / 1000}` : shown;
  const seconds = Array.isArray(value) ? value.map((each) => each / 1000).join(",") : unit;
  return `${name.padEnd(30)} ${seconds.padEnd(22)} ${origin.padEnd(12)} ${meaning}\n`;
}

/** A database address may hold a password. */
function hide(name: string, value: unknown): unknown {
  if (name !== "GW_DATABASE_URL" || typeof value !== "string") return value;
  return value.replace(/\/\/([^:/@]*):[^@]*@/, "//$1:****@");
}
