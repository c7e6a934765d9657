/**
 * The settings of an endpoint's payment page: how long and how often it accepts a card, the fields
 * that it asks for, the shop that it shows, and the sites that may embed it.
 */
import { readFileSync, statSync } from "node:fs";
import { pageLifeMaxMs, pageTriesMax } from "../../config/settings.ts";
import type { EndpointSettings } from "../../orders/merchant.ts";
import { isPictureUrl, parseColour, readPicture } from "../../values/appearance.ts";
import { messageOf, Problem } from "../../values/problem.ts";
import {
  form,
  type GivenSettings,
  givenOf,
  optional,
  type SettingRow,
  setting,
  text,
  whole,
} from "../settings.ts";

/** With the largest logo, the page's first view stays below 60 kB. */
const logoBytesMax = 16 * 1024;
const originsMax = 20;
const askable = ["first_name", "last_name", "email", "phone", "address1", "city", "zip_code"];

export const shopNameSetting: SettingRow<EndpointSettings> = setting<EndpointSettings, "shopName">(
  "shopName",
  "shopName",
  optional(text("text", /^[^\p{Cc}]{1,60}$/u, "1 to 60 characters")),
  [
    "the shop's name, which cardholders see; the payment page needs it",
    "der Name des Shops, den Karteninhaber sehen; die Zahlungsseite braucht ihn",
  ],
);

export const pageTable: readonly SettingRow<EndpointSettings>[] = [
  shopNameSetting,
  setting("shopLogo", "shopLogo", optional(form("picture", "file", readLogo)), [
    "SVG or PNG of at most 16 KiB on the payment page",
    "SVG oder PNG bis 16 KiB auf der Zahlungsseite",
  ]),
  setting("shopColour", "shopColour", optional(form("colour", "#rrggbb", readColour)), [
    "the colour of the payment page",
    "die Farbe der Zahlungsseite",
  ]),
  setting("pageLifetime", "pageLifeS", optional(whole("seconds", 1, pageLifeMaxMs / 1000)), [
    "how long a payment page takes cards",
    "wie lange eine Zahlungsseite Karten annimmt",
  ]),
  setting("pageTries", "pageTries", optional(whole("count", 1, pageTriesMax)), [
    "how many cards may be tried on a payment page",
    "wie viele Karten auf einer Zahlungsseite versucht werden dürfen",
  ]),
  setting("pageFields", "pageFields", optional(form("text", "fields", readFields)), [
    "what the payment page asks for, by commas; " +
      "else what a sale requires, and for links an email",
    "wonach die Zahlungsseite fragt, durch Kommas getrennt; " +
      "sonst was eine Zahlung verlangt, bei Links eine E-Mail",
  ]),
  setting("embedOrigins", "embedOrigins", optional(form("text", "origins", readOrigins)), [
    "sites that may embed the payment page, like https://shop.example, " +
      "by commas; in production https",
    "Websites, die die Zahlungsseite einbetten dürfen, wie https://shop.example, " +
      "durch Kommas getrennt; in Produktion nur https",
  ]),
];

/** Reads a logo from a file, or from a data URL with the picture, as `gw export` prints it. */
function readLogo(text: string): string | Problem {
  if (isPictureUrl(text, logoBytesMax)) return text;
  try {
    const isSmall = statSync(text).size <= logoBytesMax;
    const read = isSmall ? readPicture(readFileSync(text), logoBytesMax) : tooLarge;
    return read instanceof Problem ? new Problem(`${text}: ${read.sentence}.`) : read;
  } catch (error) {
    return new Problem(`${text.slice(0, 200)}: ${messageOf(error)}`);
  }
}

const tooLarge = new Problem(`it is larger than ${logoBytesMax / 1024} KiB`);

function readColour(text: string): string | Problem {
  const isColour = /^#[0-9a-f]{6}$/i.test(text) && parseColour(text) !== undefined;
  return isColour
    ? text.toLowerCase()
    : new Problem(`${text} is no colour: write it like #1a5fb4.`);
}

function readFields(text: string): readonly string[] | Problem {
  const fields = splitList(text);
  const known = [...askable, "country"];
  if (fields.every((field) => known.includes(field))) return fields;
  return new Problem(`The payment page can ask for these fields: ${known.join(", ")}.`);
}

/** The page's security policy may contain origins only as browsers write them. */
function readOrigins(text: string): readonly string[] | Problem {
  const origins = splitList(text);
  const stray = origins.find((each) => {
    return !/^https?:\/\/[a-z0-9.:[\]-]+$/.test(each) || URL.parse(each)?.origin !== each;
  });
  if (stray !== undefined) {
    return new Problem(`${stray} is no origin: write it like https://shop.example.`);
  }
  if (origins.length > originsMax) return new Problem(`At most ${originsMax} origins are listed.`);
  return origins;
}

/** Without a shop name, the payment page would show the merchant's login, or no name at all. */
export function findNamelessPage(
  settings: EndpointSettings,
  given: GivenSettings,
): Problem | undefined {
  const isGiven = Object.keys(givenOf(pageTable, given)).length > 0;
  const hasPage = pageTable.some(({ key }) => settings[key] !== undefined);
  if (!isGiven || !hasPage || settings.shopName !== undefined) return undefined;
  return new Problem(`The payment page shows the shop's name: give the endpoint a shop-name.`);
}

/** In production, sites in plain HTTP would expose the embedded payment page on the network. */
export function findPlainOrigin({ embedOrigins = [] }: EndpointSettings): Problem | undefined {
  const plain = embedOrigins.find((each) => each.startsWith("http:") && !loopback.test(each));
  return plain === undefined
    ? undefined
    : new Problem(`${plain} is not protected: in production origins are https.`);
}

const loopback = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/;

function splitList(text: string): readonly string[] {
  return text.split(",").map((each) => each.trim());
}
