import {
  createProductDrawing,
  type ProductDrawing,
  svgEllipse,
  svgPath,
  svgRectangle,
  svgStrokedPath
} from './shape.ts'

export const deskAndGardenProductDrawings: Readonly<Record<string, ProductDrawing>> = {
  'orsted-lamp': createProductDrawing(
    'white',
    [230, 130],
    svgPath('#f7e3a1', 'M236 160l-50 130h170l-40-148z'),
    svgStrokedPath('D', 9, 'M140 290l-30-120 110-70'),
    svgEllipse('D', 110, 170, 11),
    svgPath('M', 'M214 72c40-10 90 16 106 70l-92 26c-16-30-24-60-14-96z'),
    svgEllipse('M', 140, 292, 58, 12)
  ),
  'cahier-notebook': createProductDrawing(
    'black',
    [150, 180],
    svgPath('#efe7d8', 'M126 88h170v212h-170z'),
    svgPath('M', 'M110 80h166c8 0 12 4 12 12v196c0 8-4 12-12 12h-166z'),
    svgRectangle('D', 110, 80, 26, 220),
    svgRectangle('#efe7d8', 166, 130, 92, 52, 4),
    svgStrokedPath('D', 4, 'M180 150h64M180 164h44')
  ),
  'cedar-pencil': createProductDrawing(
    'cedar',
    [110, 280],
    svgPath('M', 'M110 250l150-170 34 30-150 170z'),
    svgPath('D', 'M122 262l150-170 10 8-150 170z'),
    svgPath('#ecd3ad', 'M110 250l34 30-50 20z'),
    svgPath('#3b3a39', 'M101 278l12 11-19 11z'),
    svgPath('#c9ced1', 'M260 80l34 30 12-14-34-30z')
  ),
  'plume-fountain-pen': createProductDrawing(
    'black',
    [110, 270],
    svgPath('#d8b45a', 'M80 300l14-54 34 32z'),
    svgStrokedPath('#5b4a3a', 2, 'M82 298l26-28'),
    svgPath('M', 'M98 242l130-136 38 36-132 136z'),
    svgPath('D', 'M190 146l70-72c16-10 46 18 34 34l-68 72z'),
    svgStrokedPath('#d8b45a', 7, 'M190 146l38 36'),
    svgStrokedPath('#d8b45a', 5, 'M222 132l58-58')
  ),
  'calligraphers-ink': createProductDrawing(
    'sepia',
    [200, 210],
    svgRectangle('#3b3a39', 160, 96, 80, 44, 8),
    svgPath(
      '#d9e2e4',
      'M166 140h68v16c60 10 76 40 76 84v40c0 14-6 20-20 20h-180c-14 0-20-6-20-20v-40c0-44 16-74 76-84z'
    ),
    svgPath('M', 'M104 226h192v50c0 10-4 14-14 14h-164c-10 0-14-4-14-14z'),
    svgRectangle('#f3ecdd', 146, 216, 108, 54, 4),
    svgStrokedPath('M', 5, 'M162 234h76M162 250h50')
  ),
  'resume-folder': createProductDrawing(
    'leather',
    [270, 200],
    svgPath('#f3ecdd', 'M110 96h170v60h-170z'),
    svgPath('D', 'M90 120h90l16 20h124v160h-230z'),
    svgPath('M', 'M90 150h230v140c0 6-4 10-10 10h-210c-6 0-10-4-10-10z'),
    svgStrokedPath('L', 3, 'M102 162h206v126h-206z'),
    svgStrokedPath('D', 8, 'M272 150v60'),
    svgEllipse('#d8b45a', 272, 212, 9)
  ),
  'reverie-reading-cushion': createProductDrawing(
    'oatmeal',
    [150, 180],
    svgPath('M', 'M90 120c60 16 160 16 220 0 16 60 16 110 0 170-60-16-160-16-220 0-16-60-16-110 0-170z'),
    svgStrokedPath('D', 4, 'M96 126c60 16 148 16 208 0M96 284c60-16 148-16 208 0'),
    svgStrokedPath('L', 6, 'M120 170c50 10 110 10 160 0M120 205c50 8 110 8 160 0M120 240c50 4 110 4 160 0'),
    svgEllipse('D', 90, 120, 9),
    svgEllipse('D', 310, 120, 9)
  ),
  jardiniere: createProductDrawing(
    'terracotta',
    [200, 200],
    svgPath(
      '#5d7f52',
      'M200 190c-70-30-80-90-70-130 40 10 70 50 70 130zM200 190c70-30 80-90 70-130-40 10-70 50-70 130z'
    ),
    svgPath('#7da36c', 'M200 190c-24-50-20-110 0-150 20 40 24 100 0 150z'),
    svgPath('M', 'M110 200h180l-26 100h-128z'),
    svgRectangle('D', 96, 176, 208, 34, 8),
    svgStrokedPath('L', 5, 'M126 232h148')
  ),
  'long-reach-watering-can': createProductDrawing(
    'forest',
    [100, 130],
    svgStrokedPath('D', 12, 'M290 190c60-20 50 80 0 90'),
    svgStrokedPath('D', 14, 'M180 260l-90-140'),
    svgPath('D', 'M64 112l44-28 10 18-44 28z'),
    svgPath('M', 'M170 180h130v100c0 14-6 20-20 20h-90c-14 0-20-6-20-20z'),
    svgStrokedPath('D', 10, 'M176 180c10-70 110-70 118 0'),
    svgRectangle('L', 170, 216, 130, 10)
  ),
  'dibber-and-twine': createProductDrawing(
    'beech',
    [270, 240],
    svgPath('M', 'M110 70h50c10 0 10 24 0 24h-10l4 130-19 76-19-76 4-130h-10c-10 0-10-24 0-24z'),
    svgPath('#aab1b5', 'M117 230h36l-18 70z'),
    svgEllipse('#c8a873', 264, 244, 56),
    svgStrokedPath(
      '#a3844f',
      5,
      'M216 230c30-30 66-34 94-10M214 250c34-34 72-36 104-10M222 272c30-30 62-32 92-10M240 200c-20 30-16 62 6 92M276 192c-16 34-14 70 4 100'
    )
  ),
  'wildflower-seed-tin': createProductDrawing(
    'sage',
    [200, 190],
    svgRectangle('M', 110, 130, 180, 170, 14),
    svgRectangle('D', 102, 104, 196, 40, 12),
    svgEllipse('#f3ecdd', 200, 220, 60),
    svgStrokedPath('#5d7f52', 5, 'M200 262v-50M200 248c-14-2-22-12-24-24M200 240c14-2 22-12 24-24'),
    svgEllipse('#d0614f', 184, 196, 11),
    svgEllipse('#e3b04b', 200, 184, 11),
    svgEllipse('#6f86b5', 217, 197, 11)
  ),
  secateurs: createProductDrawing(
    'red',
    [180, 130],
    svgPath('#aab1b5', 'M196 176c-60-40-70-90-46-120 30 30 56 70 66 112z'),
    svgPath('#8f979b', 'M200 168c8-40 30-60 60-64 6 40-20 70-44 80z'),
    svgStrokedPath('M', 30, 'M196 190c-40 40-50 70-44 100'),
    svgStrokedPath('D', 30, 'M214 190c36 30 52 60 50 98'),
    svgEllipse('#5b6063', 206, 172, 15)
  ),
  'osier-trug': createProductDrawing(
    'willow',
    [150, 240],
    svgStrokedPath('D', 12, 'M96 210c0-150 208-150 208 0'),
    svgPath('#7da36c', 'M140 200c-20-40 20-60 40-20 10-50 60-40 50 10 20-30 60-10 40 20z'),
    svgEllipse('#d0614f', 176, 196, 20),
    svgEllipse('#e3b04b', 228, 198, 18),
    svgPath('M', 'M70 204h260c0 60-40 96-80 96h-100c-40 0-80-36-80-96z'),
    svgStrokedPath('D', 5, 'M84 232h232M100 258h200M130 282h140M130 208l20 90M200 208v90M270 208l-20 90')
  ),
  'fagel-nest-box': createProductDrawing(
    'natural',
    [200, 190],
    svgPath('M', 'M120 150l80-70 80 70v150h-160z'),
    svgPath('D', 'M100 158l100-90 100 90 12-14-112-102-112 102z'),
    svgEllipse('#3b3a39', 200, 190, 26),
    svgStrokedPath('#8a6a45', 9, 'M200 232v22'),
    svgStrokedPath('D', 3, 'M148 160v138M252 160v138')
  )
}
