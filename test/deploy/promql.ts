/** A metric in an expression, with its label matchers. */
type Selector = { metric: string; matchers: { label: string; operator: string; value: string }[] }

const GROUPING = /\b(?:by|on)\s*\(([^)]*)\)/g
const RANGE = /\[[^\]]*\]/g
/** A name that is not called as a function, with its matchers. */
const SELECTOR = /(?<![\w.])([a-zA-Z_:][\w:]*)(?![\w:]*\s*\()(?:\{([^}]*)\})?/g
const MATCHER = /([a-zA-Z_]\w*)\s*(=~|!~|!=|=)\s*"([^"]*)"/g
const KEYWORDS = ['offset', 'and', 'or', 'unless', 'bool']

/** Reads the metrics and the grouping labels of a PromQL expression. Prometheus itself checks the rest of the syntax. */
export function readExpression(text: string): { selectors: Selector[]; groupings: string[] } {
  const groupings = [...text.matchAll(GROUPING)].flatMap(([, labels = '']) => labels.split(/\s*,\s*/))
  const selectors = [...text.replace(GROUPING, '').replace(RANGE, '').matchAll(SELECTOR)]
    .filter(([, metric = '']) => !KEYWORDS.includes(metric))
    .map(([, metric = '', matchers = '']) => ({
      metric,
      matchers: [...matchers.matchAll(MATCHER)].map(([, label = '', operator = '', value = '']) => ({
        label,
        operator,
        value
      }))
    }))
  return { selectors, groupings }
}
