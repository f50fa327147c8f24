#include <hip/hip_runtime.h>
#include <cstdio>
// nested loops, breaks, while(__any), if-bodies with wave ops
__global__ void k(int *o) {
  int lane = __lane_id(); int acc = 0;
  int left = lane % 5;
  while (__any(left > 0)) { int c = __popcll(__ballot(1)); acc += (c == warpSize) ? 1 : 1000; if (left > 0) { acc += __popcll(__ballot(1)) > 0; left--; } }
  o[threadIdx.x] = acc;
  int total = 0;
  for (int i = 0; i < 4; i++) { for (int j = 0; j < (lane & 3); j++) total += __popcll(__ballot(1)); if (lane == 3 && i == 2) break; total += 1000 * (__popcll(__ballot(1)) == warpSize); }
  o[64 + threadIdx.x] = total;
  int fin = __popcll(__ballot(1)); o[128 + threadIdx.x] = fin;
  int x = lane; for (;;) { x = x * 3 + 1; if ((x & 7) == (lane & 7)) break; if (__ballot(1) == 0) break; if (x > 100000) break; }
  o[192 + threadIdx.x] = __popcll(__ballot(1));
  switch (lane & 3) { case 0: o[256+threadIdx.x] = __popcll(__ballot(1)); break; case 1: o[256+threadIdx.x] = __popcll(__ballot(1)) + 1; break; default: o[256+threadIdx.x] = __popcll(__ballot(1)) + 2; }
  if (lane > 20) { o[320+threadIdx.x] = -1; } else { o[320+threadIdx.x] = __shfl(lane, 3); }
  o[384 + threadIdx.x] = __popcll(__ballot(1));
}
int main() { int w; hipDeviceGetAttribute(&w, hipDeviceAttributeWarpSize, 0); int *o; hipMallocManaged(&o, 448*4); k<<<1,64>>>(o); int bad=0;
 for (int t=0;t<64;t++){ int l=t%w; int e0=4+(l%5); if(o[t]!=e0) {bad++; if (bad<4) printf("a %d: %d want %d\n",t,o[t],e0);} if(o[128+t]!=w){bad++; if(bad<8)printf("b %d %d\n",t,o[128+t]);} if(o[192+t]!=w){bad++;if(bad<12)printf("c %d %d\n",t,o[192+t]);} int q=w/4; int e4=(l&3)==0?q:(l&3)==1?q+1:2*q+2; if(o[256+t]!=e4){bad++; if(bad<16)printf("d %d %d\n",t,o[256+t]);} int e5=l>20?-1:3; if(o[320+t]!=e5){bad++;printf("e\n");} if(o[384+t]!=w){bad++; if(bad<20) printf("f %d %d\n",t,o[384+t]);} }
 for (int t=0;t<64;t++){ int l=t%w; int s=0; for(int i=0;i<4;i++){ int alive=(i<=2)?w:w-1; for(int j=0;j<(l&3);j++){ int n=w*(3-j)/4; if(i==3 && 3>j) n-=1; s+=n; } if(l==3&&i==2) break; int full = i<2 ? 1 : 0; s+=1000*full; (void)alive;} if(o[64+t]!=s){bad++; if(bad<24)printf("g %d %d want %d\n",t,o[64+t],s);} }
 printf(bad?"FAIL %d\n":"PASS\n",bad); }
