# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernel in OpenCL C of docs/kernels.md as SPIR-V, for `python -m xetile.selftest` where no compiler takes it.

`scripts/selftest-kernel` makes this file; test/runtime/test_selftest_kernel.py compares.
"""

from __future__ import annotations

import base64
import zlib

__all__ = ["spirv"]

# fmt: off
_PACKED = (
    "c-pO&X>*iC5XYa*E(s8h5J-@SLPQA>L^gpCh$xV7gP@2g3J<wil5E1}AZWPc@IFzHOGO3b78MCf;Ef-"
    "|FJYBhWtG#jzmaB&$O~9%GSkyN|L*DT`9DN6CS(P%NRS^)4!R<N{f!7Rf=uQZb2f86a~AVN<|5_+%(Km$Z6twQ*;b#dTt2nEqb>-"
    "B1yQ37>=<smh@VAfG}gDYi0?`>a*S8mn_$;6qE;SfM%4Zbg5M9s40`Ogvjc+MpxDgey6N#mvZKB^Z11cI8&j>FZDC1WSkv5E+Z3kitLwseSxs1;i"
    "kEfAYger)owqvPl}IG2x=O;tst&=)3#M6|872RZ(~+u9wl}n<S}bC`?9PyzZEPcgnHICO+{bK)m)X%$-H}Rko2f2rikDS&m51%}Cn0|txL-"
    "y3e*MR_HI?Y74@*n>z2IhpGsxyS4BOihsjhH-XQH`dNpfv#s>y;asSB*lE^AZUT%BwTTWg!crutMeOtiFxBz%#{f0dc1P*0H;c=AHz81gbtzueQW"
    "Kpt=9QMR7<qoxsyH`>;<_&(P*jXl!VxA-1w9O2#-"
    "x9)vUwNB$jZN2mDI@_*`?^6E=^{BM(I0y=mw|n*5;mJF_dhYe~`#k;r+v=Tdd#?B{eJ8&>b5<}1B9Aw6)V`6lFVV-qmETCXsnGOwCU#LZVrs});k"
    "UV*9c^UslZCDL8bqxIq94pz=Q|tja<L8Jd^Yk><P2gOree~u2<}kM4ChP?pE=+SL_dOcHu_v_oqi<inC*qA>9TZw#5T{&qtF+c4CUK<r0<Z+S};Z"
    "vL)tzgc)-k)$@Lh{k2O*Oe#UU_L39P^#}cR0KlI<(wEQrBa*@X&7a)&E9;^Hpl20c;Li|(BU9<R}INhVfCpwuQQ@V-"
    "N!O2C`I%0OE9+NmHIhb!o1^rNoU74xm0Qy*dQrnq)w;pF5v-r2xQ`Gti)`P8|^jdo0Ni)ig2ZulH4)}3}Q=-<TYCT=y&rtYf3O~>8r+@j_<XC-rE"
    "p?g2T5M-~u~pn5wx?7KbJY52wSGp$Hdn<q&%<8?ex|~&QtJh3y-?vVR_i5dz0{09P51mvJ*B^v(PI_#-"
    "*P2Of385DW1^7WeU=``pbwrik&1pLI@#MoPpxAAH~YUBu}$wyRCv$#gSQ%8pzvN`-{GxcPx}0V*^_trBKMSD|JzuJeASFz?%r#0Gi~nIf-wm{e;N"
    "HX?5-"
    "+5FM(O4_Fg8pMG9}7hqsM4{|b5D21mR~p2goU_>=h$b93pl^}IQWVS^b?Cw@cjCc2I2df?h>`~;DxUFRrW4L(Iz11Gw;Yr%DKyZt(9R!ePq;P`s{"
    "IP3=YW|>pcw~g>Z6}el?T!*d0--O?F3Sam?L97mcGkXrd30_!09hNe0!nTL+L^HV`VmeK7(So0I@MJT5+{1SxNo~Yl-hQiRpTvF^b=m-"
    "bv|zhl#oWdnA|~H$<lE`CkU!CFp-#K#tBvGDc>OXxonn6}J)NTNu2-"
    "+oACl8{`ns3A>b~lruX<HqxtKb6>(U>cDqi^(cA<OP#M1>%1~%?JY~?)^s`_@*KkZ(9w}Iz;zs8=c@9S{uLU0!|cVp|$^?)OJ>>-"
    "|ij3>>ZyYQ_!bh}#bQ0twFD|f5)8*06Wod2pgbg##u`#cWa?{Vmx{czq}=ro7E&A!X?JM3u=eYYRH_t0q$eV=`Y_W^sFLqFu6jzdMhZblz>?^8AY"
    "2n@}kH?X^|{Co_i=Fm^bt>(}J9-iaSPsy|6(9g)T_`8X}o2u6j((4k#Av10&4*i_FiS95u*HcIEBk$md$Dv2@DY~N`haLmh=g{NS?3l-"
    ")U*N}Kf61PE17E?R+sWN-=Hu8p{1f;+;JvZ0iPhnM!=A(c77pD(9riGvz}9i-"
    "NpkNv^pwYmCp`{5O>G>9e&^Yr_Biwq9C`}dgDU1T+(F*=8IMEHl0VU%^*Hn}Inf+?j{QCK^f~J8di93l(DU?lA9>Y%b%DO>Q+?%Py2x9X{<!FI=p"
    "}T*p_jn%IrMwpgXYl7^v`*(zCVEHeE-OvtM5;6=uU8VGhfEmox1{#<nfBfq5lF6-4Id"
)
# fmt: on


def spirv() -> bytes:
    """The module: kernel `gemm(a, b, c, m, n, k)`, f16 times f16 to f32, a workgroup of 16 for 8 x 16 elements."""
    return zlib.decompress(base64.b85decode("".join(_PACKED)))
