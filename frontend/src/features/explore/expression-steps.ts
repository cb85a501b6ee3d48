/** The parts of a PromQL expression that have series, and what counts them: shows where an empty answer begins. Pure. */
import type { SyntaxNode } from "@lezer/common";
import { parser } from "@prometheus-io/lezer-promql";

export interface Step {
  readonly text: string;
  /** PromQL whose value is the number of series. */
  readonly question: string;
  /** How far inside the expression it stands. */
  readonly depth: number;
}

/** Each is a query. */
export const MOST_STEPS = 20;

const RANGES = ["MatrixSelector", "SubqueryExpr"];
const SHIFTS = ["OffsetExpr", "StepInvariantExpr"];
const VECTORS = ["VectorSelector", "AggregateExpr", "FunctionCall", "BinaryExpr", "UnaryExpr", "ParenExpr"];
const EXPRESSIONS = [...VECTORS, ...RANGES, ...SHIFTS, "NumberDurationLiteral"];
const MATCHERS = ["UnquotedLabelMatcher", "QuotedLabelMatcher"];
const SCALARS = ["Scalar", "Time", "Pi"];

/** Outermost first, each once and before its own parts; none of text that cannot be parsed. */
export function stepsOf(expression: string): readonly Step[] {
  const text = ({ from, to }: { from: number; to: number }) => expression.slice(from, to);
  const steps: Step[] = [];
  const add = (part: string, question: string, depth: number) => {
    if (steps.every((one) => one.question !== question)) steps.push({ text: part, question, depth });
  };
  const visit = (node: SyntaxNode, depth: number): void => {
    const listed = node.name !== "ParenExpr" && !isScalar(node);
    if (listed) add(text(node), counting(text(node), isRange(node)), depth);
    const selector = selectorOf(node);
    if (selector === null) {
      for (const one of operands(node)) visit(one, listed ? depth + 1 : depth);
      return;
    }
    for (const part of partsOf(selector, text)) {
      const shorter = expression.slice(node.from, selector.from) + part + expression.slice(selector.to, node.to);
      add(part, counting(shorter, isRange(node)), depth + 1);
    }
  };
  const tree = parser.parse(expression);
  if (!tree.toString().includes("⚠")) for (const one of operands(tree.topNode)) visit(one, 0);
  return steps.slice(0, MOST_STEPS);
}

const counting = (text: string, isRange: boolean) => `count(${isRange ? `last_over_time(${text})` : text})`;

function operands(node: SyntaxNode): SyntaxNode[] {
  const found: SyntaxNode[] = [];
  for (let child = node.firstChild; child !== null; child = child.nextSibling) {
    if (child.name === "FunctionCallBody") found.push(...operands(child));
    else if (EXPRESSIONS.includes(child.name)) found.push(child);
  }
  return found;
}

function isRange(node: SyntaxNode): boolean {
  return RANGES.includes(node.name) || (SHIFTS.includes(node.name) && operands(node).some(isRange));
}

function isScalar(node: SyntaxNode): boolean {
  if (node.name === "NumberDurationLiteral") return true;
  if (node.name === "FunctionCall") return SCALARS.includes(node.firstChild?.firstChild?.name ?? "");
  return ["BinaryExpr", "UnaryExpr", "ParenExpr"].includes(node.name) && operands(node).every(isScalar);
}

/** The selector that it is, as it is or over a range or at another time; null for whatever computes. */
function selectorOf(node: SyntaxNode): SyntaxNode | null {
  if (node.name === "VectorSelector") return node;
  const [only] = operands(node);
  return only !== undefined && (node.name === "MatrixSelector" || SHIFTS.includes(node.name)) ? selectorOf(only) : null;
}

/** Of a selector with a name and matchers: the name alone, and with each matcher of several. */
function partsOf(selector: SyntaxNode, text: (node: SyntaxNode) => string): readonly string[] {
  const name = selector.getChild("Identifier");
  const list = selector.getChild("LabelMatchers");
  if (name === null || list === null) return [];
  const matchers = MATCHERS.flatMap((kind) => list.getChildren(kind)).map(text);
  if (matchers.length === 0) return [];
  return [text(name), ...(matchers.length > 1 ? matchers.map((one) => `${text(name)}{${one}}`) : [])];
}
