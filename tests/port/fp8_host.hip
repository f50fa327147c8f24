// The fp8 conversions as functions of the host.
#include "rocport_fp8.h"

extern "C" {
unsigned char from_float(float value, int saturate, int kind) {
  return rocport::cvt_float_to_fp8(value, static_cast<rocport::saturation_t>(saturate),
                                   static_cast<rocport::fp8_interpretation_t>(kind));
}
unsigned char from_double(double value, int saturate, int kind) {
  return rocport::cvt_double_to_fp8(value, static_cast<rocport::saturation_t>(saturate),
                                    static_cast<rocport::fp8_interpretation_t>(kind));
}
float to_float(unsigned char code, int kind) {
  return rocport::cvt_fp8_to_float(code, static_cast<rocport::fp8_interpretation_t>(kind));
}
int to_int(unsigned char code) {
  rocport::fp8_e5m2 value;
  value.__x = code;
  return static_cast<int>(value);
}
unsigned short bfloat16(float value, int mode) {
  const __hip_bfloat16 result = mode == 0   ? rocport::float2bfloat16_rn(value)
                                : mode == 1 ? rocport::float2bfloat16_rz(value)
                                : mode == 2 ? rocport::float2bfloat16_ru(value)
                                            : rocport::float2bfloat16_rd(value);
  return rocport::bit_cast<unsigned short>(result);
}
}
