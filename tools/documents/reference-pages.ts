/** The pages of the two catalogues: errors by the ranges of their numbers, and settings. */

import { type Setting, settings } from "../../gateway/settings.ts";
import { failures } from "../../gateway/values/failure.ts";
import type { FailureType, Row } from "../../gateway/values/failure-types.ts";
import { fence, list, mono, page, sentence, table } from "./text.ts";

type Range = {
  readonly first: number;
  readonly last: number;
  readonly title: string;
  readonly text: string;
};

// biome-ignore format: a table
const ranges: readonly Range[] = [
  { first: 1,    last: 99,   title: "Requests",             text: "The request was refused, and nothing was charged for it." },
  { first: 100,  last: 999,  title: "Declines of the bank", text: "The order ended as declined. The bank's own code stands in brackets at the end of the message, as in `[51]`." },
  { first: 1000, last: 1999, title: "Filters",              text: "The order ended as filtered: the gateway's own checks refused it, and no bank was asked." },
  { first: 2000, last: 2999, title: "3-D Secure",           text: "The order ended as declined, because the cardholder was not authenticated." },
  { first: 3000, last: 3999, title: "Wallets",              text: "The order ended as declined, because of the wallet's payment data." },
  { first: 5000, last: 5999, title: "The gateway itself",   text: "As the answer to a request: a failure of the gateway. As the result of an order: nothing is charged, or the charge has been taken back." },
];

// biome-ignore format: a table
const places: Readonly<Record<FailureType, string>> = {
  "validation-error": "reply of type `validation-error`",
  error:              "reply of type `error`, or status `error` of an order",
  declined:           "status `declined`",
  filtered:           "status `filtered`",
};

export function renderErrorsPage(): string {
  return page(
    "gateway/values/failure.ts",
    "Errors",
    "Every `error-code` is a whole number and never changes its meaning. Every `error-message` " +
      "starts with the fixed word of this catalogue; where there is more to say, a colon, a " +
      "space and the detail follow. The detail names parameters and rules, never values.",
    "## Where errors appear",
    list(
      "A refused request is answered with `type` `validation-error` or `error`, a " +
        "`serial-number`, an `error-message` and an `error-code`. The HTTP status is 200, except " +
        "for 429 (`TOO_MANY_REQUESTS`) and 503 (`TEMPORARILY_UNAVAILABLE`), which " +
        "come with `Retry-After`.",
      "An order that was acknowledged and ended otherwise than approved carries `error-message` " +
        "and `error-code` in its status response.",
    ),
    fence("text", refusalExample),
    ...ranges.flatMap(renderRange),
  );
}

const refusalExample = [
  "type=validation-error",
  "&serial-number=0195933a-7c48-7000-8000-000000000009",
  `&error-message=${failures.control_mismatch.word}`,
  `&error-code=${failures.control_mismatch.number}`,
].join("\n");

function renderRange({ first, last, title, text }: Range): readonly string[] {
  const rows = Object.values<Row>(failures).filter(
    ({ number }) => number >= first && number <= last,
  );
  if (rows.length === 0) return [];
  return [
    `## ${title}`,
    text,
    table(
      ["`error-code`", "`error-message`", "Where", "Meaning"],
      rows.map(({ number, word, type, meaning }) => [
        String(number),
        mono(word),
        last < 100 ? `reply of type ${mono(type)}` : places[type],
        sentence(meaning),
      ]),
    ),
  ];
}

export function renderSettingsPage(): string {
  return page(
    "gateway/settings.ts",
    "Settings",
    "Every setting is a variable of the environment, read once at the start. `npm run gw -- " +
      "config` prints them with their values and where those come from. A value that cannot be " +
      "read stops the gateway with a sentence that says what it must be. Units stand last in the " +
      "names: `_S` is seconds, and fractions such as `0.5` are allowed.",
    table(
      ["Name", "Default", "Value", "Meaning"],
      Object.values<Setting<unknown>>(settings).map(row),
    ),
  );
}

function row({ name, staging, production, expects, meaning }: Setting<unknown>): readonly string[] {
  const [first, second] = [show(name, staging), show(name, production)];
  const shown = first === second ? first : `${first} in staging, ${second} in production`;
  return [mono(name), shown, expects, sentence(meaning)];
}

function show(name: string, value: unknown): string {
  if (value === "") return "none";
  if (typeof value === "boolean") return mono(value ? "on" : "off");
  if (Array.isArray(value)) return mono(value.map((each) => Number(each) / 1000).join(","));
  const inSeconds = typeof value === "number" && name.endsWith("_S") && !name.endsWith("_PER_S");
  return mono(String(inSeconds ? value / 1000 : value));
}
