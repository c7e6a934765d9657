/**
 * Charts in SVG of our own: columns of orders over time, approved below and refused above, each
 * named beside its colour, and bars with their name and number.
 */
import { useState } from "react";
import { useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";

type Point = OutputOf<"GET /home">["series"][number];
type ChartProps = { readonly points: readonly Point[]; readonly stepMs: number };

const [width, height] = [1_000, 180];
const dayMs = 86_400_000;

export function Chart({ points, stepMs }: ChartProps) {
  const { messages, showTime, showDay } = useLanguage();
  const [at, setAt] = useState<number>();
  const most = Math.max(1, ...points.map(totalOf));
  const step = width / Math.max(1, points.length);
  const show = stepMs >= dayMs ? showDay : showTime;
  const shown = at === undefined ? undefined : points[at];
  const sums = shown ?? {
    approved: sumOf(points, "approved"),
    refused: sumOf(points, "refused"),
    processing: sumOf(points, "processing"),
  };
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
        <span>{shown === undefined ? messages.most(most) : show(shown.at)}</span>
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
            point={point}
            x={index * step}
            width={step}
            scale={height / most}
            enter={() => setAt(index)}
          />
        ))}
      </svg>
      <div className="axis">
        <span>{points[0] && show(points[0].at)}</span>
        <span>{messages.now}</span>
      </div>
    </figure>
  );
}

type ColumnProps = {
  readonly point: Point;
  readonly x: number;
  readonly width: number;
  readonly scale: number;
  readonly enter: () => void;
};

function Column({ point, x, width: step, scale, enter }: ColumnProps) {
  const kinds = ["approved", "refused", "processing"] as const;
  let top = height;
  return (
    <g onPointerEnter={enter}>
      <rect className="touch" x={x} y={0} width={step} height={height} />
      {kinds.map((kind) => {
        const tall = point[kind] * scale;
        top -= tall;
        const box = { x: x + step * 0.12, y: top, width: step * 0.76, height: tall };
        return tall === 0 ? null : <rect key={kind} data-kind={kind} {...box} />;
      })}
    </g>
  );
}

function totalOf({ approved, refused, processing }: Point): number {
  return approved + refused + processing;
}

function sumOf(points: readonly Point[], kind: "approved" | "refused" | "processing"): number {
  return points.reduce((sum, point) => sum + point[kind], 0);
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
