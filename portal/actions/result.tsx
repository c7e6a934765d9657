/** Shows an item's present settings, the changes that an action would make, and its result. */
import { Button } from "@mantine/core";
import { Fragment, type ReactNode } from "react";
import { Fields, Section } from "../design/details.tsx";
import { ShownOnce } from "../design/dialog.tsx";
import { useLanguage, useMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import {
  factsIn,
  labelOf,
  secretsIn,
  showSetting,
  showValue,
  subjectOf,
  type Texts,
} from "./values.ts";

type ChangesProps = OutputOf<"POST /actions/preview">;

export function Changes({ changes }: ChangesProps) {
  const messages = useMessages();
  const { showTime } = useLanguage();
  const { choices, fields: labels } = messages;
  if (changes.length === 0) return <p className="quiet">{messages.noPreview}</p>;
  const show = (name: string, value: string) => showValue(name, value, { choices, showTime });
  return changes.map(({ action, subject, fields }) => (
    <section key={`${action} ${subject}`} className="changes">
      <h3>{subjectOf(subject, labels)}</h3>
      <Fields
        rows={fields.map(({ name, before, after }) => [
          labelOf(name, labels),
          <Fragment key={name}>
            {before !== "" && <del>{show(name, before)}</del>} <ins>{show(name, after) || "–"}</ins>
          </Fragment>,
        ])}
      />
    </section>
  ));
}

type ResultProps = OutputOf<"POST /actions/run"> & { readonly close: () => void };

export function Result({ result, notes, close }: ResultProps) {
  const messages = useMessages();
  const { showTime } = useLanguage();
  const { choices, fields: labels } = messages;
  const secrets = secretsIn(result);
  return (
    <div className="stack">
      <Fields
        rows={factsIn(result, labels).map(([name, value]) => [
          labelOf(name, labels),
          showValue(name, value, { choices, showTime }),
        ])}
      />
      {notes.map((note) => (
        <p key={note}>{note}</p>
      ))}
      {secrets.map(([name, text]) => (
        <div key={name}>
          <h3>{labelOf(name, labels)}</h3>
          <ShownOnce text={text} />
        </div>
      ))}
      {secrets.length > 0 && <p className="quiet">{messages.copyNow}</p>}
      <Button size="sm" onClick={close}>
        {secrets.length > 0 ? messages.kept : messages.close}
      </Button>
    </div>
  );
}

type SettingsProps = { readonly settings: Texts; readonly action?: ReactNode };

export function Settings({ settings, action }: SettingsProps) {
  const messages = useMessages();
  const { choices, fields } = messages;
  const rows = Object.entries(settings).map(([name, value]) => {
    const picture = value.startsWith("data:") && <img key={name} src={value} alt="" height={28} />;
    return [labelOf(name, fields), picture || showSetting(value, choices)] as const;
  });
  return (
    <Section title={messages.settings} action={action}>
      {rows.length === 0 ? (
        <p className="quiet">{messages.allUsual}</p>
      ) : (
        <Fields className="fields settings" rows={rows} />
      )}
    </Section>
  );
}
