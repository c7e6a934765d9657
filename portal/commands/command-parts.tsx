/** Parts of the window of a command: what is sent beside it, what it changes, what it tells. */
import { Button, PasswordInput, Textarea, TextInput } from "@mantine/core";
import { ShownOnce } from "../design/dialog.tsx";
import { useConfigurationMessages, useLanguage } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { useLabel } from "./field.tsx";
import { secretsIn, showValue, subjectOf } from "./request.ts";

type SentProps = {
  readonly kind: "secret" | "file";
  readonly text: string;
  readonly write: (text: string) => void;
};

export function SentInput({ kind, text, write }: SentProps) {
  const messages = useConfigurationMessages();
  if (kind === "secret") {
    return (
      <PasswordInput
        label={messages.secretInput}
        visibilityToggleFocusable
        visibilityToggleButtonProps={{ "aria-label": messages.beginEnrolment }}
        description={messages.secretInputHint}
        required
        autoComplete="off"
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
    );
  }
  const read = async (file: File | undefined) => write((await file?.text()) ?? "");
  return (
    <>
      <TextInput
        type="file"
        label={messages.fileInput}
        onChange={({ currentTarget }) => void read(currentTarget.files?.[0])}
      />
      <Textarea
        label={messages.fileContent}
        autosize
        minRows={4}
        maxRows={10}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
    </>
  );
}

type ChangesProps = { readonly changes: OutputOf<"POST /commands/preview">["changes"] };

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

export function Result({ result, close }: { readonly result: object; readonly close: () => void }) {
  const messages = useConfigurationMessages();
  return (
    <div className="action">
      {secretsIn(result).map(([name, text]) => (
        <Secret key={name} name={name} text={text} />
      ))}
      <p className="quiet">{messages.shownOnce}</p>
      <Button size="sm" onClick={close}>
        {messages.kept}
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
