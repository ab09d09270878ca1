/**
 * What a product of the demo looks like, within 400 by 400 and standing at 300. `M` is its main colour, `D` and `L`
 * are darker and lighter; `colour` is the one it has when its picture names none, and `focus` what a detail shows.
 */
export type Shape = { colour: string; focus: readonly [x: number, y: number]; svg: string }

export const line = (colour: string, width: number, d: string) =>
  `<path fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" d="${d}"/>`
export const path = (colour: string, d: string) => `<path fill="${colour}" d="${d}"/>`
export const disc = (colour: string, x: number, y: number, rx: number, ry = rx) =>
  `<ellipse fill="${colour}" cx="${x}" cy="${y}" rx="${rx}" ry="${ry}"/>`
export const box = (colour: string, x: number, y: number, width: number, height: number, round = 0) =>
  `<rect fill="${colour}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`

export const shape = (colour: string, focus: Shape['focus'], ...parts: string[]): Shape => ({
  colour,
  focus,
  svg: parts.join('')
})
