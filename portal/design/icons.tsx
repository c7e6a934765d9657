/** The portal's icons: lines on a grid of 16 by 16, in the colour of the text around them. */

// biome-ignore format: a table
const paths = {
  home:     "M2.5 13.5v-4M6.2 13.5v-8M9.8 13.5V8M13.5 13.5v-11",
  orders:   "M2.5 4.5h11M2.5 8h11M2.5 11.5h7",
  callbacks: "M2.5 6.5 8 2.5l5.5 4v7h-11zM2.5 6.5 8 10l5.5-3.5",
  requests: "M5.5 4 1.8 8l3.7 4M10.5 4l3.7 4-3.7 4",
  search:   "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14",
  download: "M8 2.5v7.5m0 0L5 7.2M8 10l3-2.8M2.5 13.5h11",
  menu:     "M2.5 4h11M2.5 8h11M2.5 12h11",
  user:     "M8 8.2a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-5.5 5.6c.6-2.4 2.8-3.6 5.5-3.6s4.9 1.2 5.5 3.6",
  close:    "M4 4l8 8M12 4l-8 8",
  plus:     "M8 3v10M3 8h10",
  down:     "M4 6.5 8 10.5l4-4",
  right:    "M6 4l4 4-4 4",
  left:     "M10 4 6 8l4 4",
  sun:      "M8 10.8a2.8 2.8 0 1 0 0-5.6 2.8 2.8 0 0 0 0 5.6ZM8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M3.4 12.6l.9-.9M11.7 4.3l.9-.9",
  moon:     "M13.5 9.3A5.8 5.8 0 1 1 6.7 2.5a4.6 4.6 0 0 0 6.8 6.8Z",
  screen:   "M2.5 3h11v8h-11zM6 13.5h4M8 11v2.5",
  language: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM2 8h12M8 2c2 2 2.6 4 2.6 6S10 12 8 14c-2-2-2.6-4-2.6-6S6 4 8 2Z",
  team:     "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5Zm-4.5 5c.5-2 2.2-3 4.5-3s4 1 4.5 3M11 8a2.2 2.2 0 0 0 0-4.4M12 10.3c1.4.4 2.3 1.3 2.6 2.7",
  audit:    "M4 2.5h8v11H4zM6.5 6h3M6.5 8.5h3M6.5 11h1.5",
  sandbox:  "M6 2.5h4M7 2.5v4L3 13.5h10L9 6.5v-4M5 10.5h6",
  key:      "M5.5 10.5a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm3-3h5.5v2.5M11.5 7.5V9",
  dots:     "M3.5 8h.01M8 8h.01M12.5 8h.01",
  keyboard: "M1.5 4h13v8h-13zM4 6.5h.01M6.7 6.5h.01M9.3 6.5h.01M12 6.5h.01M5 9.5h6",
  check:    "M3 8.5 6.5 12 13 4.5",
  link:     "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2-2a2.6 2.6 0 0 0-3.7-3.7l-.9.9M9.2 6.8a2.6 2.6 0 0 0-3.7 0l-2 2a2.6 2.6 0 0 0 3.7 3.7l.9-.9",
  shop:     "M3 6.5v7h10v-7M2.5 6.5l1-4h9l1 4a1.8 1.8 0 0 1-3.7 0 1.8 1.8 0 0 1-3.6 0 1.8 1.8 0 0 1-3.7 0ZM6.5 13.5v-4h3v4",
  gate:     "M2.5 5h7m0 0L7 2.5M9.5 5 7 7.5M13.5 11h-7m0 0L9 8.5M6.5 11 9 13.5",
  shield:   "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4l5-2Zm-2 6 1.5 1.5L10.3 6.7",
  balance:  "M8 2.5v11M5 13.5h6M3 5h10M3 5l-1.6 4a1.8 1.8 0 0 0 3.2 0L3 5Zm10 0-1.6 4a1.8 1.8 0 0 0 3.2 0L13 5Z",
  leave:    "M6.5 2.5h-4v11h4M10 11l3-3-3-3M13 8H6",
} as const;

export type IconName = keyof typeof paths;

type IconProps = { readonly name: IconName; readonly size?: number };

export function Icon({ name, size = 16 }: IconProps) {
  return (
    <svg
      className="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      <path d={paths[name]} />
    </svg>
  );
}

export function Logo() {
  return (
    <svg className="mark" width="22" height="22" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="var(--accent)" />
      <path d="M8 10h16M16 10v14M10 24h12" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    </svg>
  );
}
