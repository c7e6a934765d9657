/** One field of a command's form, by what the command takes. */
import { Checkbox, NativeSelect, Textarea, TextInput } from "@mantine/core";
import { useId } from "react";
import { useConfigurationMessages } from "../language/language.tsx";
import { useKnown } from "../orders/order-query.ts";
import { type Field, labelOf } from "./request.ts";

type FieldProps = {
  readonly field: Field;
  readonly text: string;
  readonly write: (text: string) => void;
};

export function CommandField({ field, text, write }: FieldProps) {
  const messages = useConfigurationMessages();
  const { name, isRequired, value, choices, opposite, isList } = field;
  const does = messages.commandTexts[field.does] ?? field.does;
  const shared = { label: useLabel(name), description: does, required: isRequired };
  if (opposite !== undefined || choices.length > 0) {
    const words = opposite === undefined ? choices : ["on", "off"];
    const data = words.map((word) => ({ value: word, label: messages.choices[word] ?? word }));
    const none = text === "" || !isRequired ? [{ value: "", label: "–" }] : [];
    return (
      <NativeSelect
        {...shared}
        data={[...none, ...data]}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
    );
  }
  if (value === "") {
    return (
      <Checkbox
        label={shared.label}
        description={does}
        checked={text === "on"}
        onChange={({ currentTarget }) => write(currentTarget.checked ? "on" : "")}
      />
    );
  }
  if (name === "shop-logo") return <Picture {...shared} write={write} />;
  if (isList) {
    return (
      <Textarea
        {...shared}
        description={does || messages.onePerLine}
        autosize
        minRows={2}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
    );
  }
  return <Text {...{ field, text, write }} {...shared} />;
}

export function useLabel(name: string): string {
  return labelOf(name, useConfigurationMessages().fields);
}

type Shared = { readonly label: string; readonly description: string; readonly required: boolean };

/** With the names that the gateway knows, where it is one of them. */
function Text({ field, text, write, ...shared }: FieldProps & Shared) {
  const id = useId();
  const known = ["gate", "endpoint", "merchant", "currency"].includes(field.name);
  const filters = useKnown(known);
  const { gates = [], endpoints = [], merchants = [], currencies = [] } = filters.data ?? {};
  const names: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
    gate: gates.map(({ name }) => [name, ""]),
    endpoint: endpoints.map((each) => [each.id, `${each.name} ${each.currency}`]),
    merchant: merchants.map(({ login, name }) => [login, name]),
    currency: currencies.map((code) => [code, ""]),
  };
  return (
    <>
      <TextInput
        {...shared}
        type={field.name === "day" ? "date" : "text"}
        // A form like address:port; a word would only repeat the label.
        placeholder={/[:#]/.test(field.value) ? field.value : ""}
        autoComplete="off"
        spellCheck={false}
        {...(known && { list: id })}
        value={text}
        onChange={({ currentTarget }) => write(currentTarget.value)}
      />
      {known && (
        <datalist id={id}>
          {names[field.name]?.map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </datalist>
      )}
    </>
  );
}

/** Sent as it is: no file of the gateway is named. */
function Picture({ write, ...shared }: Shared & { readonly write: (text: string) => void }) {
  const read = (file: File | undefined) => {
    if (file === undefined) return write("");
    const reader = new FileReader();
    reader.onload = () => write(String(reader.result));
    reader.readAsDataURL(file);
  };
  return (
    <TextInput
      {...shared}
      type="file"
      accept="image/png,image/svg+xml"
      onChange={({ currentTarget }) => read(currentTarget.files?.[0])}
    />
  );
}
