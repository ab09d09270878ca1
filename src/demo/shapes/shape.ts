/**
 * Drawing of a demo product in a square of 400, standing at y = 300. `M` is the main colour, `D` a darker and `L` a lighter
 * shade of it. `colour` is the default colour, and `focus` the centre of the detail view.
 */
export type ProductDrawing = { colour: string; focus: readonly [x: number, y: number]; svg: string }

export const svgStrokedPath = (colour: string, width: number, d: string) =>
  `<path fill="none" stroke="${colour}" stroke-width="${width}" stroke-linecap="round" stroke-linejoin="round" d="${d}"/>`
export const svgPath = (colour: string, d: string) => `<path fill="${colour}" d="${d}"/>`
export const svgEllipse = (colour: string, x: number, y: number, rx: number, ry = rx) =>
  `<ellipse fill="${colour}" cx="${x}" cy="${y}" rx="${rx}" ry="${ry}"/>`
export const svgRectangle = (
  colour: string,
  x: number,
  y: number,
  width: number,
  height: number,
  round = 0
) => `<rect fill="${colour}" x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"/>`

export const createProductDrawing = (
  colour: string,
  focus: ProductDrawing['focus'],
  ...parts: string[]
): ProductDrawing => ({
  colour,
  focus,
  svg: parts.join('')
})
