/**
 * The home screen: live figures over a range that is in the address, the reasons of declines, and
 * what needs attention now, such as money in doubt, failing callbacks and gates without links.
 */
import type { ReactNode } from "react";
import { Head, Loaded, Mark, Section, Tabs } from "../design/details.tsx";
import { useLanguage } from "../language/language.tsx";
import { wordIn } from "../language/rows.ts";
import { type OutputOf, useAnswer } from "../shell/call.ts";
import { useUser } from "../shell/session.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { Bars, Chart } from "./chart.tsx";
import { endedOutcomes, ordersSince, rangeIn, ranges, refusedOutcomes } from "./figures.ts";

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

/** Shows the links of this node's gates, and what keeps the node from being ready. */
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
        {links.map(({ gate, up, wanted }) => (
          <li key={gate}>
            <Mark kind={up > 0 ? "approved" : "declined"}>
              {gate} {up}/{wanted}
            </Mark>
          </li>
        ))}
      </ul>
    </Section>
  );
}
