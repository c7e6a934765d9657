/** What an action would change, and what it has answered. */
import { Button } from "@mantine/core";
import { ShownOnce } from "../design/dialog.tsx";
import { useConfigurationMessages, useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { labelOf, secretsIn, showValue, subjectOf } from "./values.ts";

type ChangesProps = OutputOf<"POST /actions/preview">;

export function Changes({ changes }: ChangesProps) {
  const messages = useConfigurationMessages();
  if (changes.length === 0) return <p className="quiet">{messages.noPreview}</p>;
  return changes.map(({ action, subject, fields }) => (
    <section key={`${action} ${subject}`} className="changes">
      <h3>{subjectOf(subject, messages.fields)}</h3>
      <dl className="fields">
        {fields.map((field) => (
          <Change key={field.name} {...field} />
        ))}
      </dl>
    </section>
  ));
}

function Change({ name, before, after }: ChangesProps["changes"][number]["fields"][number]) {
  const { choices } = useConfigurationMessages();
  const { showTime } = useLanguage();
  const label = useLabel(name);
  const shown = (value: string) => showValue(name, value, { choices, showTime });
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {before !== "" && <del>{shown(before)}</del>} <ins>{shown(after) || "–"}</ins>
      </dd>
    </div>
  );
}

export function useLabel(name: string): string {
  return labelOf(name, useConfigurationMessages().fields);
}

type ResultProps = OutputOf<"POST /actions/run"> & { readonly close: () => void };

export function Result({ result, notes, close }: ResultProps) {
  const messages = useConfigurationMessages();
  const secrets = secretsIn(result);
  return (
    <div className="action">
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {secrets.map(([name, text]) => (
        <Secret key={name} name={name} text={text} />
      ))}
      {secrets.length > 0 && <p className="quiet">{messages.copyNow}</p>}
      <Button size="sm" onClick={close}>
        {secrets.length > 0 ? messages.kept : messages.close}
      </Button>
    </div>
  );
}

function Secret({ name, text }: { readonly name: string; readonly text: string }) {
  const label = useLabel(name);
  return (
    <div>
      <h3>{label}</h3>
      <ShownOnce text={text} />
    </div>
  );
}
