/** One field of an action's form, such as a text field or a switch, depending on its kind. */
import {
  Checkbox,
  MultiSelect,
  NativeSelect,
  PasswordInput,
  Select,
  Textarea,
  TextInput,
} from "@mantine/core";
import { useMemo } from "react";
import { useLanguage, useMessages } from "../language/language.tsx";
import type { OutputOf } from "../shell/call.ts";
import { GatePlaces } from "./gate-places.tsx";
import { type Field, isLocalTime, type Shared } from "./values.ts";

type Filters = OutputOf<"GET /filters">;

type FieldProps = {
  readonly field: Field;
  readonly text: string;
  readonly error: string | undefined;
  /** The merchants, endpoints, gates and currencies that exist; undefined until they are loaded. */
  readonly filters: Filters | undefined;
  readonly write: (text: string) => void;
};

export function ActionField(props: FieldProps) {
  return (
    <div data-field={props.field.name}>
      <Control {...props} />
    </div>
  );
}

/** Whether the user picks the value from existing items, such as merchants or gates. */
export function isChosen({ kind }: Field): boolean {
  return ["merchant", "endpoint", "gate", "gate-place", "currency"].includes(kind);
}

function Control(props: FieldProps) {
  const messages = useMessages();
  const { field, text, error, filters, write } = props;
  const { kind, label, isRequired: required, isList } = field;
  const shared = { label, description: <Help field={field} />, required, error };
  const writeText = (event: { readonly currentTarget: { readonly value: string } }) =>
    write(event.currentTarget.value);
  if (kind === "flag") {
    const check = { checked: text === "on", label, description: shared.description, error };
    return <Checkbox {...check} onChange={() => write(text === "on" ? "" : "on")} />;
  }
  if (field.choices.length > 0 && !isList) {
    const none = text === "" ? [{ value: "", label: "–" }] : [];
    const data = [...none, ...field.choices];
    return <NativeSelect {...shared} data={data} value={text} onChange={writeText} />;
  }
  if (kind === "gate-place") {
    const names = filters?.gates.map(({ name }) => name) ?? [];
    return <GatePlaces shared={shared} text={text} names={names} write={write} />;
  }
  if (isChosen(field)) return <Chooser {...props} shared={shared} />;
  if (kind === "secret") {
    const toggle = { "aria-label": messages.beginEnrolment };
    const visible = { visibilityToggleFocusable: true, visibilityToggleButtonProps: toggle };
    const own = { value: text, autoComplete: "off", onChange: writeText };
    return <PasswordInput {...shared} {...visible} {...own} />;
  }
  if (kind === "file") return <SentFile {...props} shared={shared} />;
  if (kind === "picture") return <Picture {...props} shared={shared} />;
  if (isList) {
    return <Textarea {...shared} autosize minRows={2} value={text} onChange={writeText} />;
  }
  const type = typeOf(field, text);
  const written = { type, inputMode: modes[kind], autoComplete: "off", spellCheck: false };
  return <TextInput {...shared} {...written} value={text} onChange={writeText} />;
}

const modes: Readonly<Partial<Record<Field["kind"], "decimal" | "numeric" | "url">>> = {
  amount: "decimal",
  whole: "numeric",
  url: "url",
};

function typeOf(field: Field, text: string): "date" | "datetime-local" | "text" {
  if (field.kind === "day") return "date";
  const isPicked = field.kind === "moment" && (text === "" || isLocalTime(field, text));
  return isPicked ? "datetime-local" : "text";
}

function Help({ field }: { readonly field: Field }) {
  const messages = useMessages();
  const { label, help, document, isList } = field;
  const isWritten = isList && !isChosen(field);
  return (
    <>
      {help}
      {isWritten && ` (${messages.onePerLine})`}{" "}
      {document !== undefined && (
        <a
          href={document}
          target="_blank"
          rel="noreferrer"
          aria-label={`${messages.documentation}: ${label}`}
        >
          {messages.documentation}
        </a>
      )}
    </>
  );
}

type PartProps = FieldProps & { readonly shared: Shared };

/** The most choices that a list shows. The user finds others by typing a part of their label. */
const shownMax = 50;

function Chooser({ field, text, filters, write, shared }: PartProps) {
  const { code } = useLanguage();
  const { nothingMatches } = useMessages();
  const { kind } = field;
  const data = useMemo(() => offersOf(kind, filters, code), [kind, filters, code]);
  const listed = { data, limit: shownMax, nothingFoundMessage: nothingMatches };
  const own = { ...listed, searchable: true, selectFirstOptionOnChange: true, openOnFocus: false };
  const values = text.split("\n").filter((each) => each !== "");
  if (field.isList) {
    const many = { value: values, onChange: (next: string[]) => write(next.join("\n")) };
    return <MultiSelect {...shared} {...own} {...many} />;
  }
  const one = { value: text || null, onChange: (next: string | null) => write(next ?? "") };
  return <Select {...shared} {...own} {...one} allowDeselect={!field.isRequired} />;
}

function offersOf(kind: Field["kind"], filters: Filters | undefined, language: string) {
  const { merchants = [], endpoints = [], gates = [], currencies = [] } = filters ?? {};
  const named = (value: string, ...names: readonly string[]) => {
    const name = names.filter((each) => each !== "" && each !== value).join(" ");
    return { value, label: name === "" ? value : `${value} – ${name}` };
  };
  if (kind === "merchant") return merchants.map(({ login, name }) => named(login, name));
  if (kind === "endpoint") return endpoints.map((each) => named(each.id, each.name, each.currency));
  if (kind === "gate") return gates.map(({ name }) => named(name));
  // A new endpoint may have a currency that no endpoint has yet, so the list offers all.
  const names = new Intl.DisplayNames(language, { type: "currency" });
  const all = new Set([...currencies, ...Intl.supportedValuesOf("currency")]);
  return [...all].map((currency) => named(currency, names.of(currency) ?? ""));
}

/** The user chooses a file, drops a file or types the content. */
function SentFile({ text, write, shared: { error, required, ...shared } }: PartProps) {
  const { fileContent } = useMessages();
  return (
    <>
      <TextInput
        {...shared}
        type="file"
        onChange={async ({ currentTarget: { files } }) => write((await files?.[0]?.text()) ?? "")}
      />
      <Textarea
        label={fileContent}
        error={error}
        required={required}
        autosize
        minRows={4}
        maxRows={10}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
    </>
  );
}

/** A picture is sent as a `data:` URL, never as the name of a file on the gateway's machine. */
function Picture({ text, write, shared }: PartProps) {
  const { remove } = useMessages();
  const read = (file: File | undefined) => {
    if (file === undefined) return write("");
    const reader = new FileReader();
    reader.onload = () => write(String(reader.result));
    reader.readAsDataURL(file);
  };
  return (
    <>
      <TextInput
        {...shared}
        type="file"
        accept="image/png,image/svg+xml"
        onChange={({ currentTarget }) => read(currentTarget.files?.[0])}
      />
      {text !== "" && <img src={text} alt="" height={28} />}
      {text !== "" && <Checkbox label={remove} checked={false} onChange={() => write("")} />}
    </>
  );
}
