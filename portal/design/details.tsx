/** Parts of pages for a single item: heading, sections, facts, tabs, and loading states. */
import { Skeleton } from "@mantine/core";
import type { ReactNode } from "react";
import { useLanguage, useMessages } from "../language/language.tsx";
import { printedTimeIn } from "../language/times.ts";
import { Link, useAddress } from "../shell/url.tsx";
import { Icon } from "./icons.tsx";
import { Failed, type Found, ScreenSkeleton } from "./states.tsx";

type LoadedProps<Data> = {
  readonly query: Found<Data>;
  readonly waiting?: ReactNode;
  readonly children: (data: Data) => ReactNode;
};

export function Loaded<Data>({ query, waiting = <ScreenSkeleton />, children }: LoadedProps<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error === null) return waiting;
  return <Failed error={query.error} retry={() => void query.refetch()} />;
}

export function LoadedPart<Data>(given: LoadedProps<Data>) {
  return <Loaded waiting={<Skeleton height={90} />} {...given} />;
}

type HeadProps = {
  readonly back?: { readonly to: string; readonly label: string };
  readonly title: ReactNode;
  readonly state?: ReactNode;
  readonly children?: ReactNode;
};

export function Head({ back, title, state, children }: HeadProps) {
  return (
    <>
      {back && (
        <Link to={back.to} className="back">
          <Icon name="left" size={14} />
          {back.label}
        </Link>
      )}
      <div className="line heading">
        <h1>{title}</h1>
        {state}
        <div className="space" />
        {children}
      </div>
    </>
  );
}

type SectionProps = {
  readonly title: ReactNode;
  readonly action?: ReactNode;
  readonly children: ReactNode;
};

export function Section({ title, action, children }: SectionProps) {
  return (
    <section className="section">
      <div className="line section-heading">
        <h2>{title}</h2>
        <div className="space" />
        {action}
      </div>
      {children}
    </section>
  );
}

type Fact = readonly [name: string, value: ReactNode, isMarked?: boolean];
type FieldsProps = { readonly rows: readonly Fact[]; readonly className?: string };

export function Fields({ rows, className = "fields" }: FieldsProps) {
  if (rows.length === 0) return null;
  return (
    <dl className={className}>
      {rows.map(([name, value, isMarked = false], at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and rows never move
        <div key={at} data-marked={isMarked || undefined}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Facts without a value are left out. */
export function Facts({ facts }: { readonly facts: readonly Fact[] }) {
  const rows = facts.filter(([, value]) => value !== "" && value !== undefined);
  return <Fields className="facts" rows={rows} />;
}

type TabsProps = {
  readonly path: string;
  readonly label?: string;
  /** The URL parameter with the open tab, by which each tab has a link. */
  readonly parameter?: string;
  readonly tabs: readonly (readonly [name: string, label: string, content?: () => ReactNode])[];
  /** The tab that is open if the URL names no tab, by default the first. */
  readonly usual?: string;
};

export function Tabs({ path, label, parameter = "tab", tabs, usual = tabs[0]?.[0] }: TabsProps) {
  const { sections } = useMessages();
  const named = useAddress().query.get(parameter);
  const current = tabs.some(([name]) => name === named) ? named : usual;
  return (
    <>
      <nav className="line views" aria-label={label ?? sections}>
        {tabs.map(([name, text]) => (
          <Link
            key={name}
            to={name === usual ? path : `${path}?${parameter}=${name}`}
            className="view"
            isCurrent={name === current}
          >
            {text}
          </Link>
        ))}
      </nav>
      {tabs.find(([name]) => name === current)?.[2]?.()}
    </>
  );
}

type TimeProps = { readonly at: number; readonly isExact?: boolean };

/** Shows a time in the browser's zone, and also in UTC while the pointer rests on it. */
export function Time({ at, isExact = false }: TimeProps) {
  const { showTime, showExact, showUtc } = useLanguage();
  return (
    <time dateTime={new Date(at).toISOString()} title={showUtc(at)}>
      {isExact ? showExact(at) : showTime(at)}
    </time>
  );
}

type StampProps = { readonly at: number; readonly by?: string | undefined };

export function Stamp({ at, by = "" }: StampProps) {
  return (
    <>
      <Time at={at} />
      {by !== "" && `, ${by}`}
    </>
  );
}

/** Shows a time that an action of the gateway has printed, or any other text unchanged. */
export function PrintedTime({ text = "" }: { readonly text: string | undefined }) {
  const at = printedTimeIn(text);
  return at === undefined ? text : <Time at={at} />;
}

export function OnOff({ isOn }: { readonly isOn: boolean }) {
  const { on, off } = useMessages().choices;
  return <Mark kind={isOn ? "approved" : "off"}>{isOn ? on : off}</Mark>;
}

/** A coloured label. `kind` is the order status that has the same colour. */
export function Mark({ kind, children }: { readonly kind: string; readonly children: ReactNode }) {
  return (
    <span className="status" data-status={kind}>
      <span className="dot" aria-hidden="true" />
      {children}
    </span>
  );
}
