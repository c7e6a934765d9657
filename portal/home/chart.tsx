/**
 * Charts in SVG of our own: columns of orders over time, approved below and refused above, each
 * named beside its colour, and bars with their name and number.
 */
import { useState } from "react";
import { Time } from "../design/details.tsx";
import { useLanguage } from "../language/language.tsx";
import { boxesOf, chartSize, mostOf, type Point, sumsOf } from "./figures.ts";

type ChartProps = { readonly points: readonly Point[] };

const { width, height } = chartSize;

export function Chart({ points }: ChartProps) {
  const { messages, showTime } = useLanguage();
  const [at, setAt] = useState<number>();
  const most = mostOf(points);
  const shown = at === undefined ? undefined : points[at];
  const sums = shown ?? sumsOf(points);
  return (
    <figure className="chart">
      <figcaption>
        <span data-kind="approved">
          {messages.statuses.approved} <b>{sums.approved}</b>
        </span>
        <span data-kind="refused">
          {messages.refused} <b>{sums.refused}</b>
        </span>
        <span data-kind="processing">
          {messages.statuses.processing} <b>{sums.processing}</b>
        </span>
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
  readonly rows: readonly { readonly name: string; readonly count: number }[];
  readonly nothing: string;
};

export function Bars({ rows, nothing }: BarsProps) {
  if (rows.length === 0) return <p className="quiet">{nothing}</p>;
  const most = Math.max(...rows.map(({ count }) => count));
  return (
    <ul className="bars">
      {rows.map(({ name, count }) => (
        <li key={name}>
          <span>{name}</span>
          <meter min={0} max={most} value={count} aria-label={name} />
          <b>{count}</b>
        </li>
      ))}
    </ul>
  );
}
