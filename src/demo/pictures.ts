import { deskAndGardenProductDrawings } from './shapes/desk-and-garden.ts'
import { householdProductDrawings } from './shapes/house.ts'
import { outdoorProductDrawings } from './shapes/outdoors.ts'
import type { ProductDrawing } from './shapes/shape.ts'

const shapes = { ...householdProductDrawings, ...deskAndGardenProductDrawings, ...outdoorProductDrawings }
const slugs = Object.keys(shapes)

const colours = new Map([
  ['beech', '#c89a63'],
  ['black', '#45464c'],
  ['blue', '#6d8fb3'],
  ['cedar', '#a8563c'],
  ['charcoal', '#55575d'],
  ['clear', '#cfdfe3'],
  ['cream', '#efe0bd'],
  ['dark-olive', '#6a6a41'],
  ['forest', '#466b54'],
  ['glass', '#c3d8da'],
  ['green', '#6f9350'],
  ['indigo', '#495a8c'],
  ['ivory', '#efe5cf'],
  ['leather', '#99623f'],
  ['moss', '#77834b'],
  ['natural', '#d9c29c'],
  ['navy', '#3f4d70'],
  ['oak', '#c79b62'],
  ['oatmeal', '#d8c8ac'],
  ['ochre', '#cf9c42'],
  ['red', '#b9493f'],
  ['rose', '#dba9a6'],
  ['rust', '#b0623c'],
  ['sage', '#9db08d'],
  ['sepia', '#704b34'],
  ['smoke', '#8d9699'],
  ['steel', '#b4bcc0'],
  ['storm-blue', '#5a748c'],
  ['teak', '#a9713f'],
  ['terracotta', '#c4704d'],
  ['walnut', '#7a5238'],
  ['white', '#f6f3ec'],
  ['willow', '#c39d62'],
  ['zinc', '#a3adb2']
])
const WALLS = ['#ece4d8', '#dfe6e4', '#e6e0ea', '#e0e7d8', '#dde5ee', '#f0dfd8']

/**
 * Returns the picture of a demo product as SVG. The file name is the product's slug, optionally with a colour, `detail` or
 * `in-use`: `fika-mug-white.svg`. Returns undefined for other names.
 */
export function drawDemoPicture(file: string): string | undefined {
  const name = file.replace(/\.svg$/, '')
  if (name === file) return undefined
  const slug = slugs.find(each => name === each || name.startsWith(`${each}-`))
  const shape = slug === undefined ? undefined : shapes[slug]
  if (slug === undefined || shape === undefined) return undefined
  const variation = name.slice(slug.length + 1)
  const [, view, number = '1'] = /^(detail|in-use)(?:-([2-9]))?$/.exec(variation) ?? []
  const colour = colours.get(view === undefined && variation !== '' ? variation : shape.colour)
  if (colour === undefined) return undefined
  const wall = WALLS[slugs.indexOf(slug) % WALLS.length] ?? ''
  const product = applyShades(shape.svg, colour)
  if (view === 'detail') return svgPicture(wall, magnify(product, shape.focus, Number(number)))
  return svgPicture(wall, (view === 'in-use' ? ROOM : '') + SHADOW + product)
}
const svgPicture = (wall: string, content: string) =>
  '<svg xmlns="http://www.w3.org/2000/svg" width="800" height="800" viewBox="0 0 400 400">' +
  `<rect width="400" height="400" fill="${wall}"/>${content}</svg>\n`

const SHADOW = '<ellipse cx="200" cy="304" rx="130" ry="12" fill="#000" opacity=".12"/>'
/** Background of pictures `in-use`: a table and a window. */
const ROOM =
  '<rect x="236" y="36" width="130" height="170" rx="6" fill="#fff" opacity=".7"/>' +
  '<path stroke="#000" stroke-opacity=".12" stroke-width="6" d="M301 36v170M236 121h130"/>' +
  '<rect y="286" width="400" height="114" fill="#b58f66"/><rect y="286" width="400" height="8" fill="#c9a67e"/>'

const magnify = (svg: string, [x, y]: ProductDrawing['focus'], number: number): string =>
  `<g transform="translate(200 200) scale(${2 + number * 0.4}) translate(${-x} ${-y})">${svg}</g>`

function applyShades(svg: string, colour: string): string {
  const shades: Record<string, string> = {
    M: colour,
    D: mixColor(colour, 0, 0.22),
    L: mixColor(colour, 255, 0.35)
  }
  return svg.replace(/(?<==")[MDL](?=")/g, letter => shades[letter] ?? colour)
}

/** Mixes a colour with black (`towards` 0) or white (255). `share` is from 0 to 1. */
const mixColor = (colour: string, towards: number, share: number): string =>
  colour.replace(/[0-9a-f]{2}/g, hex => {
    const value = Number.parseInt(hex, 16)
    return Math.round(value + (towards - value) * share)
      .toString(16)
      .padStart(2, '0')
  })
