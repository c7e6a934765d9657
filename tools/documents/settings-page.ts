/** The page of the settings: the table that the gateway reads its environment by. */
import { type Setting, settings } from "../../gateway/settings.ts";
import { mono, page, sentence, table } from "./markdown.ts";

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
