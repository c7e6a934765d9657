/** The field for the gates of an endpoint. Each of its rows has a gate with its rank and weight. */
import { Button, CloseButton, Input, NativeSelect, TextInput } from "@mantine/core";
import { useEffect, useRef } from "react";
import { Icon } from "../design/icons.tsx";
import { useMessages } from "../language/language.tsx";
import { printGates, type RankedGate, readGates, type Shared } from "./values.ts";

type Props = {
  readonly shared: Shared;
  readonly text: string;
  readonly names: readonly string[];
  readonly write: (text: string) => void;
};

export function GatePlaces({ shared, text, names, write }: Props) {
  const messages = useMessages();
  const places = readGates(text);
  const unused = names.filter((name) => places.every((place) => place.name !== name));
  const [first] = unused;
  const change = (next: readonly RankedGate[]) => write(printGates(next));
  const { rows, moveTo } = useCursor(text);
  const remove = (index: number) => {
    moveTo(Math.min(index, places.length - 2));
    change(places.filter((_, other) => other !== index));
  };
  const add = (name: string) => {
    moveTo(places.length);
    change([...places, { name, rank: "1", weight: "1" }]);
  };
  return (
    <Input.Wrapper {...shared} labelElement="div" role="group" aria-label={shared.label}>
      <div className="gate-places" ref={rows}>
        {places.length > 0 && (
          <div className="gate-place quiet" aria-hidden>
            <span>{messages.gate}</span>
            <span>{messages.rank}</span>
            <span>{messages.weight}</span>
          </div>
        )}
        {places.map((place, index) => (
          <PlaceRow
            // This React key keeps the cursor in the row when the user chooses another gate.
            // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place in the list
            key={index}
            place={place}
            unused={unused}
            isRefused={shared.error !== undefined}
            write={(next) => change(places.with(index, next))}
            remove={() => remove(index)}
          />
        ))}
        <Button
          variant="default"
          leftSection={<Icon name="plus" size={12} />}
          disabled={first === undefined}
          onClick={() => first !== undefined && add(first)}
        >
          {messages.addGate}
        </Button>
      </div>
    </Input.Wrapper>
  );
}

type RowProps = {
  readonly place: RankedGate;
  readonly unused: readonly string[];
  readonly isRefused: boolean;
  readonly write: (place: RankedGate) => void;
  readonly remove: () => void;
};

function PlaceRow({ place, unused, isRefused, write, remove }: RowProps) {
  const messages = useMessages();
  const { name } = place;
  const count = { type: "number", min: 1, inputMode: "numeric", required: true } as const;
  return (
    <div className="gate-place">
      <NativeSelect
        aria-label={messages.gate}
        data={[name, ...unused]}
        value={name}
        error={isRefused}
        onChange={({ currentTarget: { value } }) => write({ ...place, name: value })}
      />
      <TextInput
        {...count}
        aria-label={messages.rankOf(name)}
        value={place.rank}
        onChange={({ currentTarget: { value } }) => write({ ...place, rank: value })}
      />
      <TextInput
        {...count}
        aria-label={messages.weightOf(name)}
        value={place.weight}
        onChange={({ currentTarget: { value } }) => write({ ...place, weight: value })}
      />
      <CloseButton aria-label={messages.removeNamed(name)} onClick={remove} />
    </div>
  );
}

/** Moves the cursor to an added row, or after a removal to the next row. */
function useCursor(text: string) {
  const rows = useRef<HTMLDivElement>(null);
  const wanted = useRef<number>(undefined);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the rows are made of the text
  useEffect(() => {
    if (wanted.current === undefined) return;
    const selects = rows.current?.querySelectorAll("select");
    const last = rows.current?.querySelector<HTMLElement>(":scope > button");
    (selects?.[wanted.current] ?? last)?.focus();
    wanted.current = undefined;
  }, [text]);
  return { rows, moveTo: (index: number) => (wanted.current = index) };
}
