import {
  createProductDrawing,
  type ProductDrawing,
  svgEllipse,
  svgPath,
  svgRectangle,
  svgStrokedPath
} from './shape.ts'

export const outdoorProductDrawings: Readonly<Record<string, ProductDrawing>> = {
  'promenade-bench': createProductDrawing(
    'teak',
    [120, 190],
    svgStrokedPath('#3b3a39', 9, 'M90 300v-70M310 300v-70M90 230l-10-100M310 230l10-100'),
    svgRectangle('M', 66, 130, 268, 22, 4),
    svgRectangle('M', 70, 164, 260, 22, 4),
    svgRectangle('D', 60, 212, 280, 14, 4),
    svgRectangle('M', 56, 230, 288, 16, 4),
    svgStrokedPath('#3b3a39', 9, 'M52 200h40M308 200h40')
  ),
  'siesta-hammock': createProductDrawing(
    'natural',
    [200, 220],
    svgStrokedPath('#8a6a45', 14, 'M60 300v-200M340 300v-200'),
    svgStrokedPath('#a3844f', 4, 'M60 120l50 46M60 120l60 66M340 120l-50 46M340 120l-60 66'),
    svgPath('M', 'M104 160c40 70 152 70 192 0 0 90-50 112-96 112s-96-22-96-112z'),
    svgStrokedPath(
      'L',
      6,
      'M140 204c-4 24 4 44 14 56M176 218c-2 20 0 36 4 50M224 218c2 20 0 36-4 50M260 204c4 24-4 44-14 56'
    )
  ),
  'dejeuner-picnic-blanket': createProductDrawing(
    'red',
    [200, 220],
    svgPath('M', 'M60 250l80-110h180l30 110c-60 30-230 30-290 0z'),
    svgPath(
      'L',
      'M104 190l18-24h205l8 24zM72 234l14-20h255l6 20zM170 140h26l-24 132-34-4zM250 140h26l20 126-34 4z'
    ),
    svgPath('D', 'M60 250c60 30 230 30 290 0v16c-60 32-230 32-290 0z')
  ),
  'lanterne-tempete': createProductDrawing(
    'black',
    [200, 210],
    svgStrokedPath('D', 6, 'M130 180c-30-140 170-140 140 0'),
    svgPath('M', 'M160 130h80l-12-36h-56z'),
    svgPath('#f7e3a1', 'M150 140h100c24 40 20 76-6 110h-88c-26-34-30-70-6-110z'),
    svgPath('#e8843c', 'M200 166c24 34 16 62 0 62s-24-28 0-62z'),
    svgStrokedPath('D', 5, 'M140 130c-30 50-26 80 10 126M260 130c30 50 26 80-10 126'),
    svgPath('M', 'M140 250h120l12 50h-144z')
  ),
  'uberall-flask': createProductDrawing(
    'steel',
    [200, 140],
    svgRectangle('D', 162, 60, 76, 56, 10),
    svgPath(
      'M',
      'M156 116h88c14 16 20 26 20 44v124c0 10-6 16-16 16h-96c-10 0-16-6-16-16v-124c0-18 6-28 20-44z'
    ),
    svgRectangle('L', 152, 170, 18, 110, 9),
    svgStrokedPath('D', 5, 'M138 158h124')
  ),
  'tablier-apron': createProductDrawing(
    'indigo',
    [200, 240],
    svgStrokedPath('D', 8, 'M160 110c-10-70 90-70 80 0M120 190l-60 30M280 190l60 30'),
    svgPath('M', 'M158 104h84c0 46 14 64 46 74l14 122h-204l14-122c32-10 46-28 46-74z'),
    svgPath('D', 'M150 214h100v44c0 12-8 18-18 18h-64c-10 0-18-6-18-18z'),
    svgStrokedPath('L', 3, 'M156 222h88M162 112h76')
  ),
  'gardeners-gloves': createProductDrawing(
    'moss',
    [140, 250],
    svgPath(
      'M',
      'M96 250v-110c0-14 20-14 20 0v30-70c0-14 22-14 22 0v66-76c0-14 22-14 22 0v80-66c0-14 20-14 20 0v90c16-30 40-16 28 6l-36 60z'
    ),
    svgRectangle('D', 90, 246, 92, 54, 10),
    svgPath(
      'L',
      'M312 254v-100c0-14-18-14-18 0v24-60c0-14-20-14-20 0v58-66c0-14-20-14-20 0v70-56c0-14-18-14-18 0v80c-12-26-34-14-24 6l30 50z'
    ),
    svgRectangle('D', 234, 250, 84, 50, 10)
  ),
  'foroyar-jumper': createProductDrawing(
    'navy',
    [200, 170],
    svgPath('M', 'M150 100h100l50 24 40 140-42 14-28-80v102h-140v-102l-28 80-42-14 40-140z'),
    svgPath('D', 'M160 96h80c-6 26-74 26-80 0z'),
    svgStrokedPath(
      'L',
      6,
      'M132 150l12 14 12-14 12 14 12-14 12 14 12-14 12 14 12-14 12 14 12-14 12 14 10-14'
    ),
    svgStrokedPath('L', 4, 'M132 180h138M136 196h130'),
    svgRectangle('D', 130, 286, 140, 16, 6)
  ),
  beret: createProductDrawing(
    'black',
    [210, 150],
    svgStrokedPath('D', 12, 'M216 118l10-26'),
    svgPath('M', 'M70 220c-20-70 70-120 150-112s140 70 104 112c-20 22-60 10-100 14s-130 14-154-14z'),
    svgPath('D', 'M130 226c40-16 110-20 160-6 6 30-10 44-30 46-40-10-70-8-108 2-16-4-26-20-22-42z'),
    svgStrokedPath('L', 5, 'M110 172c30-34 70-42 110-36')
  ),
  'boot-socks': createProductDrawing(
    'oatmeal',
    [170, 130],
    svgPath('D', 'M190 90h76v120c0 20 60 20 60 54 0 20-14 26-30 26h-60c-30 0-46-20-46-46z'),
    svgPath('M', 'M110 90h80v120c0 24 64 24 64 60 0 20-14 30-34 30h-60c-32 0-50-20-50-50z'),
    svgRectangle('#b0563a', 106, 84, 88, 26, 8),
    svgStrokedPath('L', 5, 'M118 130h64M118 144h64M118 158h64'),
    svgPath('#b0563a', 'M110 252c6 30 24 46 50 48l-8-48z')
  ),
  'branno-raincoat': createProductDrawing(
    'storm-blue',
    [200, 190],
    svgPath('D', 'M150 110c0-70 100-70 100 0l-50 40z'),
    svgPath('M', 'M146 106l54 40 54-40 44 24 36 130-40 12-24-70v100h-140v-100l-24 70-40-12 36-130z'),
    svgStrokedPath('D', 4, 'M200 148v152'),
    svgStrokedPath('L', 5, 'M148 236h32M220 236h32'),
    svgEllipse('L', 212, 180, 5),
    svgEllipse('L', 212, 216, 5),
    svgEllipse('L', 212, 252, 5)
  )
}
