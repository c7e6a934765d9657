/** A logo as the `data:` URL that pages show: SVG or PNG, known by its first bytes. */
import { Problem } from "./problem.ts";

export function readPicture(bytes: Uint8Array, bytesMax: number): string | Problem {
  if (bytes.length > bytesMax) return new Problem(`it is larger than ${bytesMax / 1024} KiB`);
  const picture = Buffer.from(bytes);
  const type = typeOf(picture);
  if (type === undefined) return new Problem("it is neither SVG nor PNG");
  return `data:${type};base64,${picture.toString("base64")}`;
}

/** Whether it is one that `readPicture` has made, as a configuration file repeats it. */
export function isPictureUrl(text: string, bytesMax: number): boolean {
  const [, encoded = ""] = /^data:image\/[a-z+]+;base64,([A-Za-z0-9+/]+=*)$/.exec(text) ?? [];
  return readPicture(Buffer.from(encoded, "base64"), bytesMax) === text;
}

const pngStart = Buffer.from("89504e470d0a1a0a", "hex");
/** A comment ends at its first `-->`: otherwise each could be read in many ways. */
const svgStart =
  /^\uFEFF?\s*(<\?xml[^>]*>\s*)?(<!--((?!-->).)*-->\s*)*(<!doctype svg[^>]*>\s*)?<svg[\s>]/is;

function typeOf(bytes: Buffer): string | undefined {
  if (bytes.subarray(0, pngStart.length).equals(pngStart)) return "image/png";
  return svgStart.test(bytes.toString("utf8")) ? "image/svg+xml" : undefined;
}
