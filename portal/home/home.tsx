/**
 * How payments go: live figures over a range that is in the address, the reasons of declines, and
 * what needs attention now: money in doubt, failing callbacks, gates without links.
 */
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { Mark, PlainSection } from "../design/details.tsx";
import { Failed, ScreenSkeleton } from "../design/states.tsx";
import { useLanguage } from "../language/language.tsx";
import { wordIn } from "../language/timeline.ts";
import { live, type OutputOf, type User } from "../shell/call.ts";
import { Link, usePlace } from "../shell/url.tsx";
import { Bars, Chart } from "./chart.tsx";
import { rangeIn, ranges } from "./figures.ts";

type HomeFigures = OutputOf<"GET /home">;

const liveEveryMs = 5_000;

export function Home({ user }: { readonly user: User }) {
  const { messages } = useLanguage();
  const { query } = usePlace();
  const range = rangeIn(query);
  const found = useQuery({
    queryKey: ["home", range],
    queryFn: live("GET /home", { range }),
    placeholderData: keepPreviousData,
    refetchInterval: liveEveryMs,
  });
  if (found.data === undefined) {
    if (found.error === null) return <ScreenSkeleton />;
    return <Failed error={found.error} retry={() => void found.refetch()} />;
  }
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.home}</h1>
        <span className="live">{messages.live}</span>
      </div>
      <nav className="views" aria-label={messages.range}>
        {ranges.map((each) => (
          <Link key={each} to={`home?range=${each}`} className="view" isCurrent={each === range}>
            {messages.ranges[each]}
          </Link>
        ))}
      </nav>
      <Figures figures={found.data} />
      <PlainSection title={messages.ordersOverTime}>
        <Chart points={found.data.series} />
      </PlainSection>
      <div className="columns even">
        <PlainSection title={messages.declinesByReason}>
          <Bars
            rows={found.data.reasons.map(({ reason, count }) => ({
              name: messages.reasonOf(reason),
              count,
            }))}
            nothing={messages.noDeclines}
          />
        </PlainSection>
        <PlainSection title={messages.threedsResults}>
          <Bars
            rows={Object.entries(found.data.threeds).map(([name, count]) => ({
              ...{ name: wordIn(messages.threedsNames, name), count },
            }))}
            nothing={messages.noThreeds}
          />
        </PlainSection>
      </div>
      {user.merchant === undefined && <Health figures={found.data} />}
    </div>
  );
}

function Figures({ figures }: { readonly figures: HomeFigures }) {
  const { messages, code } = useLanguage();
  const { outcomes, approvalRate, net, overhead, inDoubt, failingCallbacks } = figures;
  const count = Object.values(outcomes).reduce((sum, each) => sum + each, 0);
  const share = new Intl.NumberFormat(code, { style: "percent", maximumFractionDigits: 1 });
  const number = new Intl.NumberFormat(code);
  return (
    <dl className="figures">
      <Figure name={messages.orders}>
        {number.format(count)}{" "}
        <small>
          {messages.perMinute} {number.format(figures.perMinute)}
        </small>
      </Figure>
      <Figure name={messages.approvalRate}>
        {approvalRate === undefined ? "–" : share.format(approvalRate)}
      </Figure>
      <Figure name={messages.netAmount}>
        {net.length === 0 && "–"}
        {net.map(({ currency, text }) => (
          <span className="money" key={currency}>
            {text} <small>{currency}</small>
          </span>
        ))}
        <small>{messages.netAmountHint}</small>
      </Figure>
      <Figure name={messages.overhead}>
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
      <Figure name={messages.statuses.in_doubt} isAlarming={inDoubt > 0}>
        <Link to="orders?status=in_doubt">{number.format(inDoubt)}</Link>
      </Figure>
      <Figure name={messages.failingCallbacks} isAlarming={failingCallbacks > 0}>
        <Link to="callbacks?state=due">{number.format(failingCallbacks)}</Link>
      </Figure>
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly isAlarming?: boolean;
  readonly children: ReactNode;
};

function Figure({ name, isAlarming = false, children }: FigureProps) {
  return (
    <div data-alarming={isAlarming || undefined}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** Of this node: which gates have their links, and what keeps it from being ready. */
function Health({ figures: { links, missing } }: { readonly figures: HomeFigures }) {
  const { messages } = useLanguage();
  return (
    <PlainSection title={messages.links}>
      {missing.map((each) => (
        <p className="refusal" key={each}>
          {each}
        </p>
      ))}
      {links.length === 0 && <p className="quiet">{messages.noLinks}</p>}
      <ul className="links">
        {links.map(({ gate, up, wanted }) => (
          <li key={gate}>
            <Mark kind={up > 0 ? "approved" : "declined"}>
              {gate} {up}/{wanted}
            </Mark>
          </li>
        ))}
      </ul>
    </PlainSection>
  );
}
