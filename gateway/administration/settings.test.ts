/** Checks which values of settings are accepted, and with which error others are refused. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { getCurrency } from "../values/iso-codes.ts";
import { Problem } from "../values/problem.ts";
import { directoryTable } from "./gates/directories.ts";
import { readCurrencies } from "./gates/gate-settings.ts";
import {
  amountIn,
  checkLimits,
  fee,
  form,
  oneOf,
  onOff,
  optional,
  readSettings,
  required,
  type SettingRow,
  setting,
  showSettings,
  text,
} from "./settings.ts";

const dollars = amountIn(getCurrency("USD"));

test("fees, amounts, currencies and switches are read, or refused with a plain error", () => {
  assert.deepEqual(fee.read("2.5%+30", "fee"), { percent: "2.5", fixed: "30" });
  assert.match(complaintOf(fee.read("2,5%", "fee")), /^2,5% is no fee: write it like 2\.5%/);
  assert.equal(dollars.read("0500", "min"), "50000");
  assert.match(complaintOf(dollars.read("5.001", "min")), /^5\.001 is no amount in USD/);
  assert.deepEqual(readCurrencies("USD, EUR,USD"), ["USD", "EUR"]);
  assert.equal(readCurrencies("all"), undefined);
  assert.match(complaintOf(readCurrencies("USD,XYZ")), /^XYZ is no currency/);
  assert.equal(onOff.read("on", "commissions"), true);
  assert.match(complaintOf(onOff.read("yes", "commissions")), /^commissions is on or off/);
  assert.equal(oneOf("policy", ["off", "always"]).read("always", "3ds"), "always");
  assert.match(
    complaintOf(oneOf("policy", ["off"]).read("on", "3ds")),
    /^3ds is one of off, not on/,
  );
});

type Settings = { readonly name: string; readonly fee?: string; readonly min?: string };

const amount = optional(dollars);
const table: readonly SettingRow<Settings>[] = [
  setting("name", "name", required(form("text", "name", (text) => text)), ["", ""]),
  setting("fee", "fee", amount, ["", ""]),
  setting("min", "min", amount, ["", ""], ({ fee }) => fee === undefined),
];

test("settings are shown by the names of their options, in one order, with their defaults", () => {
  type Shown = { readonly callback?: boolean; readonly codes?: readonly string[]; min?: string };
  const codes = form("text", "codes", (text) => text.split(","));
  const shown: readonly SettingRow<Shown>[] = [
    setting("privateCallbacks", "callback", onOff, ["", ""]),
    setting("min", "min", amount, ["", ""]),
    setting("allowedCodes", "codes", codes, ["", ""]),
  ];
  const usual = { min: "none", "private-callbacks": "off" };

  assert.deepEqual(Object.entries(showSettings(shown, { codes: ["a", "b"] }, usual)), [
    ["private-callbacks", "off"],
    ["min", "none"],
    ["allowed-codes", "a, b"],
  ]);
  assert.deepEqual(showSettings(shown, { callback: true }, {}), { "private-callbacks": "on" });
});

test("settings that are not given stay, and removed ones are gone", () => {
  const known = { name: "a", fee: "30", min: "5" };

  assert.deepEqual(readSettings(table, { min: "none" }, known), { name: "a", fee: "30" });
  assert.deepEqual(readSettings(table, { fee: "40", other: true }, known), {
    ...known,
    fee: "4000",
  });
  assert.match(complaintOf(readSettings(table, { fee: "x" }, known)), /^x is no amount/);
  assert.match(complaintOf(text("name", /^.{1,9}$/, "text").read("none", "name")), /^name is text/);
});

test("one error names all missing settings", () => {
  const fault = readSettings(table, {}, {}, "A gate");

  assert.equal(complaintOf(fault), "A gate also needs name, min.");
  assert.deepEqual(readSettings(table, { name: "a", fee: "1" }, {}), { name: "a", fee: "100" });
});

test("limits that leave no amount are refused", () => {
  assert.match(complaintOf(checkLimits({ amountMin: "10", amountMax: "9" })), /larger/);
  assert.deepEqual(checkLimits({ amountMin: "9", amountMax: "10" }), {
    amountMin: "9",
    amountMax: "10",
  });
});

test("a directory server can be marked as the sandbox's and unmarked again", () => {
  const server = {
    certificateFile: "c",
    keyFile: "k",
    authorityFile: "a",
    url: "https://d.example",
  };
  const own = { referenceNumber: "r", operatorId: "o", requestorId: "q", requestorName: "n" };
  const known = { ...server, ...own, requestorUrl: "https://shop.example", networks: [] };

  const put = readSettings(directoryTable, { sandbox: true }, known);
  assert.ok(!(put instanceof Problem) && put.sandbox === true);
  const out = readSettings(directoryTable, { sandbox: false }, put);
  assert.ok(!(out instanceof Problem) && !("sandbox" in out));
});

function complaintOf(read: unknown): string {
  assert.ok(read instanceof Problem);
  return read.sentence;
}
