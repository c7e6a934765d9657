/**
 * QR codes as pictures: SVG for browsers and print, and half blocks for terminals. Both have a
 * light background and quiet zone, which readers need on a dark page or terminal.
 */
import encodeQr from "qr";

/** The width of the quiet zone in modules, as ISO 18004 requires it. */
const quietModules = 4;
/** With this level, a fifteenth of the code may be unreadable. */
const correction = "medium";

export function renderQrSvg(text: string): string {
  const rows = modulesOf(text);
  const size = rows.length;
  // A run of dark modules is drawn as one rectangle.
  const runs = rows.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? "1" : "0"))
        .join("")
        .matchAll(/1+/g),
    ].map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`),
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<path fill="#fff" d="M0 0h${size}v${size}H0z"/><path fill="#000" d="${runs.join("")}"/>
</svg>
`;
}

/** Prints two rows of modules in a line, black on white. */
export function renderQrText(text: string): string {
  const rows = modulesOf(text);
  const lines: string[] = [];
  for (let y = 0; y < rows.length; y += 2) {
    const blocks = rows[y]?.map((isDark, x) => {
      const isDarkBelow = rows[y + 1]?.[x] ?? false;
      if (isDark) return isDarkBelow ? "█" : "▀";
      return isDarkBelow ? "▄" : " ";
    });
    lines.push(`\u001b[30;107m${blocks?.join("")}\u001b[0m`);
  }
  return lines.join("\n");
}

function modulesOf(text: string): readonly (readonly boolean[])[] {
  return encodeQr(text, "raw", { ecc: correction, border: quietModules });
}
