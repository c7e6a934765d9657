/** Tests the description of actions for forms in every language, and the schema of their values. */
import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { Problem } from "../values/problem.ts";
import { action, isOffered } from "./action.ts";
import { loadAllActions } from "./actions.ts";
import { describeAction, labelOf, offeredFields, schemaOf } from "./describe.ts";
import {
  flag,
  languages,
  onlyOnCommandLine,
  option,
  preset,
  toggle,
  word,
  written,
} from "./field.ts";
import { choiceLabels, documents, fieldLabels } from "./labels.ts";
import { readGiven } from "./read-given.ts";

const help = ["what it is", "was es ist"] as const;
const sample = action("change", "change_merchants", {
  name: "endpoint sample",
  does: ["change a sample", "ein Muster ändern"],
  fields: {
    endpoint: word("endpoint", "id", help),
    "3ds": option(["off", "always"], "word", help),
    withoutCvv: toggle({ yes: "without-cvv", no: "with-cvv" }, help),
    callbacks: preset(["GET", "POST"], "word", "GET", help),
    key: word("file", "file", help),
    reveal: { ...flag(help), right: "reveal_secrets" },
    svg: onlyOnCommandLine(option("path", "file", help)),
  },
  perform: () => undefined,
});

test("a form has labels, help and choices in its language, and no field of the command line", () => {
  const { fields, ...described } = describeAction(sample, "de", "admin");

  assert.deepEqual(described, {
    name: "endpoint sample",
    does: "ein Muster ändern",
    isChange: true,
  });
  assert.deepEqual(
    fields.map(({ name, label }) => [name, label]),
    [
      ["endpoint", "Endpunkt"],
      ["3ds", "3-D Secure"],
      ["without-cvv", "Funktioniert ohne CVV"],
      ["callbacks", "Callbacks werden gesendet als"],
      ["key", "Datei"],
      ["reveal", "reveal"],
    ],
  );
  assert.deepEqual(fields[1], {
    name: "3ds",
    label: "3-D Secure",
    help: "was es ist",
    kind: "choice",
    isRequired: false,
    isList: false,
    document: "3d-secure",
    choices: [
      { value: "off", label: "Aus" },
      { value: "always", label: "Immer" },
    ],
  });
  assert.equal(fields[3]?.preset, "GET");
});

test("a form omits fields for which the role has no right", () => {
  const { fields } = describeAction(sample, "en", "finance");

  assert.ok(!fields.some(({ name }) => name === "reveal"));
});

test("the schema has the fields by their written names, with their values", () => {
  const { properties, required } = Object(schemaOf(sample));

  assert.deepEqual(required, ["endpoint", "key"]);
  assert.deepEqual(properties["without-cvv"], { type: "boolean", description: "what it is" });
  assert.deepEqual(properties["3ds"].enum, ["off", "always"]);
  assert.equal(properties["svg"], undefined);
});

test("a refusal of a value names its field", () => {
  const wrong = readGiven(sample, { endpoint: "1", "3ds": "never" });

  const sentence = "3ds is one of off, always, not never.";
  assert.deepEqual(wrong, new Problem(sentence, "invalid_input", "3ds"));
});

const offered = (await loadAllActions()).filter(isOffered);

test("every field of a form has a label", () => {
  const unlabelled = offered
    // Screens perform actions that only look, without a form.
    .filter(({ mode }) => mode === "change" || mode === "record")
    .flatMap((each) => offeredFields(each))
    .filter((each) => labelOf(...each) === undefined);

  assert.deepEqual([...new Set(unlabelled.map(([name]) => written(name)))], []);
});

const englishWord =
  /(^|[ (])(the|of|or|and|is|are|not|with|for|from|this|that|default|which|when)([ ,.:;)]|$)/i;

test("every text of a form exists in both languages", () => {
  const fields = offered.flatMap((each) => offeredFields(each)).map(([, field]) => field.help);
  const all = [...offered.map(({ does }) => does), ...fields];
  const labels = [...Object.values(fieldLabels), ...Object.values(choiceLabels)];

  const empty = [...all, ...labels].filter((each) => languages.some((one) => each[one] === ""));
  assert.deepEqual(empty, []);
  assert.deepEqual(
    [...all, ...labels].filter(({ de }) => englishWord.test(de)),
    [],
  );
});

test("every link to the documentation leads to a heading", () => {
  const docs = join(import.meta.dirname, "../../docs");
  const lost = Object.values(documents).filter((place) => {
    const [page = "", anchor] = place.split("#");
    const path = join(docs, `${page}.md`);
    if (!existsSync(path)) return true;
    const titles = readFileSync(path, "utf8").matchAll(/^#+ (.+)$/gm);
    return anchor !== undefined && ![...titles].some(([, title = ""]) => slugOf(title) === anchor);
  });

  assert.deepEqual(lost, []);
});

function slugOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
}
