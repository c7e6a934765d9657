/** Message extensions, which any message may carry. A critical one must be understood. */
import { boolean, object, text } from "../checks.ts";
import { isFields } from "../message.ts";
import { type Check, no, O, R, type Row } from "../rows.ts";

const jsonLengthMax = 8059;

const content: Check = (value) =>
  isFields(value) && JSON.stringify(value).length <= jsonLengthMax ? undefined : "203";

// biome-ignore format: a table
const itemRows: readonly Row[] = [
  ["id",                   text(1, 64), R, R, R],
  ["name",                 text(1, 64), R, R, R],
  ["criticalityIndicator", boolean,     R, R, R],
  ["data",                 content,     R, R, R],
];

// biome-ignore format: a table
export const extensionRows: readonly Row[] = [
  ["messageExtension",     extensions(10), O,  O,  no],
  ["messageExtension",     extensions(15), no, no, O],
];

function extensions(countMax: number): Check {
  return (value, place) => {
    if (!Array.isArray(value) || value.length > countMax) return "203";
    for (const extension of value) {
      const code = object(itemRows)(extension, place);
      if (code !== undefined) return code;
      const isUnknown = !place.extensions.includes(extension.id);
      if (extension.criticalityIndicator === true && isUnknown) return "202";
    }
  };
}
