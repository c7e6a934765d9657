/** The audit: who changed what, from where and why, and the proof that it is whole. */
import { Button, Skeleton, TextInput } from "@mantine/core";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { usePerformer } from "../actions/performer.tsx";
import { Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { Failed, Nothing, Refusal, SearchedTo } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { call } from "../shell/call.ts";
import { useKeys } from "../shell/keys.ts";
import { changeQuery, usePlace } from "../shell/url.tsx";
import { type Entry, fieldsOf, readAuditQuery, verdictOf } from "./entry.ts";

export function Audit() {
  const messages = useMessages();
  const { query } = usePlace();
  const input = readAuditQuery(query);
  const found = useQuery({
    queryKey: ["audit", input],
    queryFn: ({ signal }) => call("GET /audit", input, { signal }),
    placeholderData: keepPreviousData,
  });
  const next = found.data?.next;
  return (
    <div className="screen">
      <div className="heading">
        <h1>{messages.audit}</h1>
        <span className="note">{messages.verifyHint}</span>
      </div>
      <Verification />
      <Search text={input.search ?? ""} />
      {found.error !== null && <Failed error={found.error} retry={() => void found.refetch()} />}
      {found.data === undefined && found.error === null && <Skeleton height={240} />}
      {found.data && <Entries entries={found.data.entries} isBusy={found.isPlaceholderData} />}
      <SearchedTo at={found.data?.searchedTo} />
      <div className="pages">
        <div className="space" />
        {input.after !== undefined && (
          <Button variant="default" onClick={() => changeQuery({ after: "" })}>
            {messages.newest}
          </Button>
        )}
        {next !== undefined && (
          <Button variant="default" onClick={() => changeQuery({ after: next })}>
            {messages.older}
          </Button>
        )}
      </div>
    </div>
  );
}

function Verification() {
  const messages = useMessages();
  const verify = usePerformer(() => call("POST /audit/verify", {}), { changes: "nothing" });
  const verdict = verify.data && verdictOf(verify.data, messages);
  return (
    <div className="verification">
      <Button
        variant="default"
        leftSection={<Icon name="check" size={14} />}
        loading={verify.isPending}
        onClick={() => verify.mutate()}
      >
        {messages.verify}
      </Button>
      <Refusal text={verify.error?.message} />
      {verdict?.isWhole === true && (
        <p className="success" role="status">
          {verdict.text} <small>{verdict.note}</small>
        </p>
      )}
      {verdict?.isWhole === false && (
        <div className="refusal" role="alert">
          {verdict.text}
          <ul>
            {verdict.findings.map((finding) => (
              <li key={finding}>{finding}</li>
            ))}
          </ul>
        </div>
      )}
    </div>
  );
}

/** The address follows what is written, a moment later. */
function Search({ text }: { readonly text: string }) {
  const messages = useMessages();
  const [written, setWritten] = useState(text);
  const field = useRef<HTMLInputElement>(null);
  useKeys([["/", () => field.current?.focus()]]);
  useEffect(() => setWritten(text), [text]);
  useEffect(() => {
    if (written === text) return;
    const timer = setTimeout(
      () => changeQuery({ search: written, after: "" }, { replaces: true }),
      200,
    );
    return () => clearTimeout(timer);
  }, [written, text]);
  return (
    <TextInput
      ref={field}
      type="search"
      aria-label={messages.search}
      placeholder={messages.searchAudit}
      leftSection={<Icon name="search" size={14} />}
      maxLength={128}
      value={written}
      onChange={({ currentTarget }) => setWritten(currentTarget.value)}
    />
  );
}

type EntriesProps = { readonly entries: readonly Entry[]; readonly isBusy: boolean };

function Entries({ entries, isBusy }: EntriesProps) {
  const messages = useMessages();
  if (entries.length === 0) {
    return <Nothing title={messages.noEntries} hint={messages.noEntriesHint} />;
  }
  return (
    <ol className="entries" aria-busy={isBusy}>
      {entries.map((entry) => (
        <li key={entry.seq}>
          <AuditEntry entry={entry} />
        </li>
      ))}
    </ol>
  );
}

function AuditEntry({ entry }: { readonly entry: Entry }) {
  const messages = useMessages();
  const { at, actor, action, subject } = entry;
  return (
    <details>
      <summary>
        <Time at={at} />
        <b>{action}</b>
        <span className="subject">{subject}</span>
        <span className="quiet">{actor}</span>
      </summary>
      <dl className="fields">
        {fieldsOf(entry, messages).map(({ name, text, isJson }) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{isJson ? <pre>{text}</pre> : text}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
