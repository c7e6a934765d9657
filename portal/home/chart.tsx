/**
 * Draws the portal's own SVG charts: columns of orders over time, approved below and refused above,
 * with a legend, and bars with their name and number.
 */
import { useState } from "react";
import { Time } from "../design/details.tsx";
import { useLanguage } from "../language/language.tsx";
import { Link } from "../shell/url.tsx";
import {
  boxesOf,
  chartSize,
  kinds,
  mostOf,
  ordersSince,
  outcomesOf,
  type Point,
  sumsOf,
} from "./figures.ts";

type ChartProps = {
  readonly points: readonly Point[];
  /** The beginning of the first column. */
  readonly since: number;
};

const { width, height } = chartSize;

export function Chart({ points, since }: ChartProps) {
  const { messages, showTime } = useLanguage();
  const [at, setAt] = useState<number>();
  const most = mostOf(points);
  const shown = at === undefined ? undefined : points[at];
  const sums = shown ?? sumsOf(points);
  const names = { ...messages.statuses, refused: messages.refused };
  return (
    <figure className="chart">
      <figcaption>
        {kinds.map((kind) => (
          <span data-kind={kind} key={kind}>
            <Link to={ordersSince(since, { outcome: outcomesOf[kind] })}>{names[kind]}</Link>{" "}
            <b>{sums[kind]}</b>
          </span>
        ))}
        <span className="space" />
        <span>{shown === undefined ? messages.most(most) : showTime(shown.at)}</span>
      </figcaption>
      <svg
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={messages.ordersOverTime}
        onPointerLeave={() => setAt(undefined)}
      >
        {points.map((point, index) => (
          <Column
            key={point.at}
            boxes={boxesOf(point, { index, count: points.length, most })}
            enter={() => setAt(index)}
          />
        ))}
      </svg>
      <div className="axis">
        {points[0] && <Time at={points[0].at} />}
        <span>{messages.now}</span>
      </div>
    </figure>
  );
}

type ColumnProps = {
  readonly boxes: ReturnType<typeof boxesOf>;
  readonly enter: () => void;
};

function Column({ boxes: { touch, parts }, enter }: ColumnProps) {
  return (
    <g onPointerEnter={enter}>
      <rect className="touch" {...touch} />
      {parts.map(({ kind, ...box }) => (
        <rect key={kind} data-kind={kind} {...box} />
      ))}
    </g>
  );
}

type BarsProps = {
  /** Each row links to the orders that it counts. */
  readonly rows: readonly { readonly name: string; readonly count: number; readonly to: string }[];
  readonly nothing: string;
};

export function Bars({ rows, nothing }: BarsProps) {
  if (rows.length === 0) return <p className="quiet">{nothing}</p>;
  const most = Math.max(...rows.map(({ count }) => count));
  return (
    <ul className="bars">
      {rows.map(({ name, count, to }) => (
        <li key={name}>
          <Link to={to}>{name}</Link>
          <meter min={0} max={most} value={count} aria-label={name} />
          <b>{count}</b>
        </li>
      ))}
    </ul>
  );
}
