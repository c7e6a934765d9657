/** Money as messages say it: minor units in digits, the currency by its ISO 4217 number. */

/** Digits only, at most the twelve that a message has room for. */
export function parseAmount(text: string | undefined): bigint | undefined {
  if (text === undefined || text.length === 0 || text.length > 12) return undefined;
  for (let place = 0; place < text.length; place += 1) {
    const code = text.charCodeAt(place);
    if (code < 48 || code > 57) return undefined;
  }
  return BigInt(text);
}

/** A number that is not in the table is booked as it came. */
export function nameCurrency(number: string): string {
  return letters.get(number) ?? number;
}

/** The number of a currency as the books name it. */
export function numberCurrency(name: string): string {
  return numbers.get(name) ?? name;
}

/** For the cardholder's eyes: `10.15 USD`. */
export function showAmount(minorUnits: string, exponent: string, currencyNumber: string): string {
  const places = Number(exponent);
  const digits = minorUnits.replace(/^0+/, "").padStart(places + 1, "0");
  const whole = digits.slice(0, digits.length - places);
  const part = places === 0 ? "" : `.${digits.slice(-places)}`;
  return `${whole}${part} ${nameCurrency(currencyNumber)}`;
}

/** Whether a message about a charge speaks of other money than was booked for it. */
export function isOtherCurrency(number: string | undefined, booked: string): boolean {
  return number !== undefined && nameCurrency(number) !== booked;
}

// biome-ignore format: a table
const letters: ReadonlyMap<string, string> = new Map([
  ["008", "ALL"], ["012", "DZD"], ["032", "ARS"], ["036", "AUD"], ["044", "BSD"], ["048", "BHD"],
  ["050", "BDT"], ["051", "AMD"], ["052", "BBD"], ["060", "BMD"], ["068", "BOB"], ["084", "BZD"],
  ["096", "BND"], ["116", "KHR"], ["124", "CAD"], ["144", "LKR"], ["152", "CLP"], ["156", "CNY"],
  ["170", "COP"], ["188", "CRC"], ["203", "CZK"], ["208", "DKK"], ["214", "DOP"], ["230", "ETB"],
  ["320", "GTQ"], ["344", "HKD"], ["348", "HUF"], ["352", "ISK"], ["356", "INR"], ["360", "IDR"],
  ["368", "IQD"], ["376", "ILS"], ["388", "JMD"], ["392", "JPY"], ["398", "KZT"], ["400", "JOD"],
  ["404", "KES"], ["410", "KRW"], ["414", "KWD"], ["417", "KGS"], ["422", "LBP"], ["446", "MOP"],
  ["458", "MYR"], ["480", "MUR"], ["484", "MXN"], ["496", "MNT"], ["498", "MDL"], ["504", "MAD"],
  ["512", "OMR"], ["524", "NPR"], ["554", "NZD"], ["566", "NGN"], ["578", "NOK"], ["586", "PKR"],
  ["590", "PAB"], ["600", "PYG"], ["604", "PEN"], ["608", "PHP"], ["634", "QAR"], ["643", "RUB"],
  ["682", "SAR"], ["702", "SGD"], ["704", "VND"], ["710", "ZAR"], ["752", "SEK"], ["756", "CHF"],
  ["764", "THB"], ["780", "TTD"], ["784", "AED"], ["788", "TND"], ["800", "UGX"], ["807", "MKD"],
  ["818", "EGP"], ["826", "GBP"], ["834", "TZS"], ["840", "USD"], ["858", "UYU"], ["860", "UZS"],
  ["901", "TWD"], ["933", "BYN"], ["936", "GHS"], ["941", "RSD"], ["944", "AZN"], ["946", "RON"],
  ["949", "TRY"], ["950", "XAF"], ["952", "XOF"], ["969", "MGA"], ["971", "AFN"], ["972", "TJS"],
  ["975", "BGN"], ["977", "BAM"], ["978", "EUR"], ["980", "UAH"], ["981", "GEL"], ["985", "PLN"],
  ["986", "BRL"], ["990", "CLF"],
]);

const numbers = new Map([...letters].map(([number, name]) => [name, number]));
