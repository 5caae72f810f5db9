/**
 * Elements from code. Text of data reaches the page as text nodes and properties alone, never as markup: nothing in this folder assigns
 * `innerHTML`, and the page's content security policy would not run what did.
 */

/** What may stand in an element. */
export type Child = Node | string | number | undefined | null | false | readonly Child[];

/** Attributes and listeners of an element: `on…` are listeners, the rest attributes, or properties where they must be. */
export type Props = Readonly<Record<string, Prop>>;

/** One of them. */
export type Prop = string | number | boolean | undefined | null | ((event: Event) => void) | (() => void);

/** Makes an element. A property that is undefined or false is left out; `true` is an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  props: Props = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) setProp(element, name, value);
  append(element, children);
  return element;
}

function setProp(element: HTMLElement, name: string, value: Prop): void {
  if (value === undefined || value === false || value === null) return;
  if (typeof value === "function") {
    element.addEventListener(name.slice(2), value);
  } else if (name === "value" || name === "checked" || name === "textContent" || name === "tabIndex") {
    Reflect.set(element, name, value);
  } else {
    element.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Appends children, lists of them included. */
function append(parent: Node, children: readonly Child[]): void {
  for (const child of children) {
    if (child === undefined || child === null || child === false) continue;
    if (typeof child === "string" || typeof child === "number") parent.appendChild(document.createTextNode(String(child)));
    else if (child instanceof Node) parent.appendChild(child);
    else append(parent, child);
  }
}

/** Replaces what stands in `parent`. */
export function show(parent: Element, ...children: readonly Child[]): void {
  parent.replaceChildren();
  append(parent, children);
}

/** An icon of `paths`, 16 by 16, that screen readers pass over. */
export function icon(path: string): SVGSVGElement {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("viewBox", "0 0 16 16");
  svg.setAttribute("aria-hidden", "true");
  svg.classList.add("icon");
  const shape = document.createElementNS("http://www.w3.org/2000/svg", "path");
  shape.setAttribute("d", path);
  svg.appendChild(shape);
  return svg;
}

/** A button with a label. */
export function button(label: string, onclick: () => void, props: Props = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick, ...props }, label);
}

/** A labelled control: `label` stands above or before it, and belongs to it for screen readers. */
export function field(label: string, control: HTMLElement): HTMLLabelElement {
  return h("label", { class: "field" }, h("span", {}, label), control);
}

/** A choice. */
export function select(
  options: readonly (readonly [value: string, label: string])[],
  value: string,
  onchange: (value: string) => void,
): HTMLSelectElement {
  const element = h(
    "select",
    {},
    options.map(([each, label]) => h("option", { value: each, selected: each === value }, label)),
  );
  element.addEventListener("change", () => onchange(element.value));
  return element;
}

/** A figure with its name, in a list of `facts`. */
export function fact(label: string, ...value: readonly Child[]): HTMLElement {
  return h("div", { class: "fact" }, h("dt", {}, label), h("dd", {}, value));
}

/** Names and values below each other. */
export function attributes(
  entries: readonly (readonly [name: string, value: string | number | bigint | boolean | null | undefined])[],
): HTMLElement {
  return h(
    "dl",
    { class: "attributes" },
    entries.map(([name, value]) => [h("dt", {}, name), h("dd", {}, String(value))]),
  );
}
