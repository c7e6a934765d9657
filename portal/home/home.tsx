/**
 * The home screen: figures over a time range, the reasons of declines, and what needs attention
 * now, such as money in doubt, failing callbacks and gates without links.
 */
import { type ReactNode, useState } from "react";
import { Head, Loaded, Mark, Section, Tabs, Time } from "../design/details.tsx";
import { Table } from "../design/table.tsx";
import { GateHealth } from "../gates/gates.tsx";
import { useLanguage } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { configured, useKnown } from "../orders/order-query.ts";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import {
  boxesOf,
  chartSize,
  endedOutcomes,
  kinds,
  mostOf,
  ordersSince,
  outcomesOf,
  type Point,
  pointsOf,
  rangeIn,
  ranges,
  refusedOutcomes,
  sumsOf,
} from "./figures.ts";

type HomeFigures = OutputOf<"GET /home">;

const liveEveryMs = 5_000;

export function Home() {
  const range = rangeIn(useAddress().query);
  const found = useAnswer("GET /home", { range }, { everyMs: liveEveryMs, keepsBefore: true });
  return <Loaded query={found}>{(figures) => <Shown figures={figures} />}</Loaded>;
}

function Shown({ figures }: { readonly figures: HomeFigures }) {
  const { messages } = useLanguage();
  const { isOperator } = useUser();
  const { since } = figures;
  return (
    <div className="screen stack">
      <Head title={messages.home} state={<span className="line live">{messages.live}</span>} />
      <Tabs
        path="home"
        label={messages.range}
        parameter="range"
        usual="day"
        tabs={ranges.map((each) => [each, messages.ranges[each]])}
      />
      <Figures figures={figures} />
      <Section title={messages.ordersOverTime}>
        <Chart points={figures.series} since={since} />
      </Section>
      <div className="columns even">
        <Section title={messages.declinesByReason}>
          <Bars
            rows={figures.reasons.map(({ reason, count }) => ({
              name: messages.reasonOf(reason),
              count,
              to: ordersSince(since, { reason, outcome: refusedOutcomes }),
            }))}
            nothing={messages.noDeclines}
          />
        </Section>
        <Section title={messages.threedsResults}>
          <Bars
            rows={Object.entries(figures.threeds).map(([name, count]) => ({
              name: wordIn(messages.threedsNames, name),
              count,
              to: ordersSince(since, { threeds: name }),
            }))}
            nothing={messages.noThreeds}
          />
        </Section>
      </div>
      <Shares shares={figures.shares} />
      {isOperator && <Health figures={figures} />}
    </div>
  );
}

function Figures({ figures }: { readonly figures: HomeFigures }) {
  const { messages, code } = useLanguage();
  const { outcomes, approvalRate, net, overhead, inDoubt, failingCallbacks, since } = figures;
  const { counted } = messages;
  const count = Object.values(outcomes).reduce((sum, each) => sum + each, 0);
  const share = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 1 });
  const number = new Intl.NumberFormat(code);
  return (
    <dl className="figures">
      <Figure name={messages.orders} hint={counted.orders}>
        <Link to={ordersSince(since)}>{number.format(count)}</Link>{" "}
        <small>
          {messages.perMinute} {number.format(figures.perMinute)}
        </small>
      </Figure>
      <Figure name={messages.approvalRate} hint={counted.approvalRate}>
        {approvalRate === undefined ? (
          "–"
        ) : (
          <Link to={ordersSince(since, { outcome: endedOutcomes })}>
            {share.format(approvalRate)}
          </Link>
        )}
      </Figure>
      <Figure name={messages.netAmount} hint={counted.netAmount}>
        {net.length === 0 && "–"}
        {net.map(({ currency, text }) => (
          <span className="money" key={currency}>
            <Link to={ordersSince(since, { outcome: "approved", currency })}>{text}</Link>{" "}
            <small>{currency}</small>
          </span>
        ))}
      </Figure>
      <Figure name={messages.overhead} hint={counted.overhead}>
        {overhead === undefined ? (
          "–"
        ) : (
          <>
            ≤ {overhead.p95} ms{" "}
            <small>
              {messages.p50} ≤ {overhead.p50} ms · p99 ≤ {overhead.p99} ms
            </small>
          </>
        )}
      </Figure>
      <Figure name={messages.statuses.in_doubt} hint={counted.inDoubt} isAlarming={inDoubt > 0}>
        <Link to="orders?status=in_doubt">{number.format(inDoubt)}</Link>
      </Figure>
      <Figure
        name={messages.failingCallbacks}
        hint={counted.failingCallbacks}
        isAlarming={failingCallbacks > 0}
      >
        <Link to="callbacks?state=failing">{number.format(failingCallbacks)}</Link>
      </Figure>
    </dl>
  );
}

type SharesProps = { readonly shares: HomeFigures["shares"] };

/** Approval rates, each with the change since a week before and a link to its orders. */
function Shares({ shares: { since, rows } }: SharesProps) {
  const { messages, code } = useLanguage();
  const known = configured(useKnown().data);
  const share = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 1 });
  const points = new Intl.NumberFormat(code, {
    signDisplay: "exceptZero",
    maximumFractionDigits: 1,
  });
  const nameOf = ({ by, value }: (typeof rows)[number]) =>
    (by === "gate" && known.gate.find((gate) => gate.value === value)?.label) || value;
  return (
    <Section title={messages.approvalsBy}>
      <Table
        className="rows stacked still small"
        rows={rows}
        none={messages.noRates}
        keyOf={({ by, value }) => `${by} ${value}`}
        columns={[
          [messages.countedBy, ({ by }) => messages.ratesBy[by], "quiet"],
          [
            messages.value,
            (row) => (
              <Link to={ordersSince(since, { [row.by]: row.value, outcome: endedOutcomes })}>
                {nameOf(row)}
              </Link>
            ),
          ],
          [
            messages.approvalRate,
            ({ approved, ended }) => share.format(approved / ended),
            "number",
          ],
          [messages.sinceLastWeek, (row) => pointsOf(row, points.format), "number plain"],
          [messages.orders, ({ ended }) => ended, "number plain"],
        ]}
      />
    </Section>
  );
}

type FigureProps = {
  readonly name: string;
  /** Explains how the figure is counted. */
  readonly hint: string;
  readonly isAlarming?: boolean;
  readonly children: ReactNode;
};

function Figure({ name, hint, isAlarming = false, children }: FigureProps) {
  return (
    <div data-alarming={isAlarming || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
      <dd className="hint">{hint}</dd>
    </div>
  );
}

/** Shows the links of this node's gates, and the reasons why the node is not ready. */
function Health({ figures: { links, missing } }: { readonly figures: HomeFigures }) {
  const { messages } = useLanguage();
  return (
    <Section title={messages.links}>
      {missing.map((each) => (
        <p className="refusal" key={each}>
          {each}
        </p>
      ))}
      {links.length === 0 && <p className="quiet">{messages.noGateLinks}</p>}
      <ul className="line">
        {links.map((line) => (
          <li key={line.gate}>
            <Mark kind={line.up > 0 ? "approved" : "declined"}>
              {line.gate} {line.up}/{line.wanted}
            </Mark>{" "}
            <GateHealth line={line} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

type ChartProps = {
  readonly points: readonly Point[];
  /** When the first column of the chart begins. */
  readonly since: number;
};

const { width, height } = chartSize;

/** A column has approved orders at the bottom, then refused orders and orders in progress. */
function Chart({ points, since }: ChartProps) {
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
  /** Each bar links to the orders that it counts. */
  readonly rows: readonly { readonly name: string; readonly count: number; readonly to: string }[];
  readonly nothing: string;
};

function Bars({ rows, nothing }: BarsProps) {
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
