/** The screen of the audit: who changed what and why, and a button that verifies the audit. */
import { Button } from "@mantine/core";
import { usePerformer } from "../actions/performer.tsx";
import { Fields, Head, Time } from "../design/details.tsx";
import { Icon } from "../design/icons.tsx";
import { List } from "../design/list.tsx";
import { Refusal } from "../design/states.tsx";
import { useMessages } from "../language/language.tsx";
import { Search } from "../orders/search.tsx";
import { call, useAnswer } from "../shell/call.ts";
import { useAddress } from "../shell/url.tsx";
import { type Entry, fieldsOf, type Proof, readAuditQuery, verdictOf } from "./entry.ts";

export function Audit() {
  const messages = useMessages();
  const input = readAuditQuery(useAddress().query);
  const found = useAnswer("GET /audit", input, { keepsBefore: true });
  return (
    <div className="screen stack">
      <Head title={messages.audit} state={<span className="note">{messages.verifyHint}</span>} />
      <Verification />
      <Search label={messages.searchAudit} />
      <List
        found={found}
        rowsOf={({ entries }) => entries}
        none={[messages.noEntries, messages.noEntriesHint]}
      >
        {(entries) => (
          <ol className="entries" aria-busy={found.isPlaceholderData}>
            {entries.map((entry) => (
              <li key={entry.seq}>
                <AuditEntry entry={entry} />
              </li>
            ))}
          </ol>
        )}
      </List>
    </div>
  );
}

function Verification() {
  const messages = useMessages();
  const verify = usePerformer(
    () => call("POST /actions/run", { action: "audit verify", values: {} }),
    { changes: "nothing" },
  );
  // The compiler cannot know that the action `audit verify` returns a `Proof`.
  const verdict = verify.data && verdictOf(verify.data.result as Proof, messages);
  return (
    <div className="line">
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
      <Fields
        rows={fieldsOf(entry, messages).map(({ name, text, isJson }) => [
          name,
          isJson ? <pre key={name}>{text}</pre> : text,
        ])}
      />
    </details>
  );
}
